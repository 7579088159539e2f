/// The hooks that a worker can deliver to. JSON form: `proto-json/hooks.schema.json`.
package struct HookFile: Hashable, Sendable {
    package static let maximumBytes = ThumbnailRequest.maximumBytes

    /// Sorted by name.
    package let hooks: [Hook]

    package init(_ hooks: [Hook]) { self.hooks = hooks.sorted { $0.name < $1.name } }

    /// Parses a whole file as strictly as a request: an unknown field is refused by name.
    package init(parsing text: some Sequence<UInt8>) throws(InvalidRequest) {
        let json = try JSONValue(reading: text, atMost: Self.maximumBytes)
        self.init(try json.named("hooks", Hook.init(name:json:at:)))
    }
}

extension Hook {
    private static let fields = [
        "url", "secret", "secretFile", "command", "timeout", "concurrency", "maxAge", "retry",
    ]
    /// The most arguments of a command.
    private static let maximumArguments = 64

    init(name: String, json: JSONValue, at path: String) throws(InvalidRequest) {
        let reader = try JSONObjectReader(json, at: path, fields: Self.fields)
        self.init(name: name, target: try Self.target(reader))
        timeout = try reader.number("timeout", in: Self.timeoutRange) ?? timeout
        concurrency = try reader.integer("concurrency", in: Self.concurrencyRange) ?? concurrency
        maximumAge = try reader.number("maxAge", in: Self.ageRange) ?? maximumAge
        if let value = reader.value("retry") { retry = try RetryOverride(json: value, at: reader.path(of: "retry")) }
    }

    private static func target(_ reader: JSONObjectReader) throws(InvalidRequest) -> Target {
        let (url, command) = (try reader.string("url"), try reader.array("command"))
        guard (url == nil) != (command == nil) else {
            throw InvalidRequest(path: reader.path, reason: "needs a url or a command, and not both")
        }
        let (secret, file) = (try reader.string("secret"), try reader.string("secretFile"))
        if let command {
            guard secret == nil, file == nil else {
                throw reader.refusal(secret == nil ? "secretFile" : "secret", "is only for a url")
            }
            return .command(try arguments(command, reader))
        }
        guard let url, SourceScheme(of: url)?.isWeb == true else {
            throw reader.refusal("url", "must be an http: or https: URL")
        }
        switch (secret, file) {
        case (let text?, nil):
            guard let secret = WebhookSecret(text) else { throw reader.refusal("secret", WebhookSecret.rule) }
            return .url(url, .text(secret))
        case (nil, let path?):
            guard path.hasPrefix("/") else {
                throw reader.refusal("secretFile", "must be an absolute path, not \"\(path)\"")
            }
            return .url(url, .file(path))
        default: throw InvalidRequest(path: reader.path, reason: "needs a secret or a secretFile, and not both")
        }
    }

    private static func arguments(
        _ items: [JSONValue],
        _ reader: JSONObjectReader
    ) throws(InvalidRequest) -> [String] {
        var arguments: [String] = []
        for item in items {
            guard case .string(let text) = item, !text.utf8.contains(0) else {
                throw reader.refusal("command", "must be a list of strings")
            }
            arguments.append(text)
        }
        guard let program = arguments.first, program.hasPrefix("/"), arguments.count <= maximumArguments else {
            let rule = "must be the absolute path of a program and at most \(maximumArguments - 1) arguments"
            throw reader.refusal("command", rule)
        }
        return arguments
    }
}
