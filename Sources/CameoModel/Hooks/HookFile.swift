internal import Foundation

/// The hooks that a worker can deliver to. JSON form: `proto-json/hooks.schema.json`.
package struct HookFile: Hashable, Sendable {
    package static let maximumBytes = ThumbnailRequest.maximumBytes

    /// Sorted by name.
    package let hooks: [Hook]

    package init(_ hooks: [Hook]) {
        self.hooks = hooks.sorted { $0.name < $1.name }
    }

    /// Parses a whole file as strictly as a request: an unknown field is refused by name.
    package init(parsing text: some Sequence<UInt8>) throws(InvalidRequest) {
        let json = try JSONValue(reading: text, atMost: Self.maximumBytes)
        let reader = try JSONObjectReader(json, at: "", fields: ["hooks"])
        guard let members = try reader.object("hooks") else {
            throw InvalidRequest(path: "hooks", reason: "is required")
        }
        var hooks: [Hook] = []
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            hooks.append(try Hook(name: name, json: value, at: "hooks.\(name)"))
        }
        self.init(hooks)
    }

    /// The wire form, without fields that equal their defaults.
    package var json: JSONValue {
        .object(["hooks": .object(Dictionary(uniqueKeysWithValues: hooks.map { ($0.name, $0.json) }))])
    }
}

extension Hook {
    private static let fields = [
        "url", "secret", "secretFile", "command", "timeout", "concurrency", "maxAge", "retry",
    ]
    /// The most arguments of a command.
    private static let maximumArguments = 64

    init(name: String, json: JSONValue, at path: String) throws(InvalidRequest) {
        guard ThumbnailRequest.isLabel(name) else {
            throw InvalidRequest(path: path, reason: "its name must be 1 to 64 of a-z 0-9 . _ -, not \"\(name)\"")
        }
        let reader = try JSONObjectReader(json, at: path, fields: Self.fields)
        self.init(name: name, target: try Self.target(reader))
        timeout = try reader.number("timeout", in: Self.timeoutRange) ?? timeout
        concurrency = try reader.integer("concurrency", in: Self.concurrencyRange) ?? concurrency
        maximumAge = try reader.number("maxAge", in: Self.ageRange) ?? maximumAge
        if let value = reader.value("retry") {
            let override = try RetryOverride(json: value, at: reader.path(of: "retry"))
            try override.validate(at: reader.path(of: "retry"))
            retry = override
        }
    }

    private static func target(_ reader: JSONObjectReader) throws(InvalidRequest) -> Target {
        func refuse(_ field: String, _ reason: String) -> InvalidRequest {
            InvalidRequest(path: reader.path(of: field), reason: reason)
        }
        let (url, command) = (try reader.string("url"), try reader.array("command"))
        guard (url == nil) != (command == nil) else {
            throw InvalidRequest(path: reader.path, reason: "needs a url or a command, and not both")
        }
        let (secret, file) = (try reader.string("secret"), try reader.string("secretFile"))
        if let command {
            guard secret == nil, file == nil else {
                throw refuse(secret == nil ? "secretFile" : "secret", "is only for a url")
            }
            return .command(try arguments(command, refuse))
        }
        guard let url, ["http", "https"].contains(URIScheme.of(url) ?? "") else {
            throw refuse("url", "must be an http: or https: URL")
        }
        switch (secret, file) {
        case (let text?, nil):
            guard let secret = WebhookSecret(text) else { throw refuse("secret", WebhookSecret.rule) }
            return .url(url, .text(secret))
        case (nil, let path?):
            guard path.hasPrefix("/") else { throw refuse("secretFile", "must be an absolute path, not \"\(path)\"") }
            return .url(url, .file(path))
        default: throw InvalidRequest(path: reader.path, reason: "needs a secret or a secretFile, and not both")
        }
    }

    private static func arguments(
        _ items: [JSONValue],
        _ refuse: (String, String) -> InvalidRequest
    ) throws(InvalidRequest) -> [String] {
        var arguments: [String] = []
        for item in items {
            guard case .string(let text) = item, !text.utf8.contains(0) else {
                throw refuse("command", "must be a list of strings")
            }
            arguments.append(text)
        }
        guard let program = arguments.first, program.hasPrefix("/"), arguments.count <= maximumArguments else {
            throw refuse(
                "command",
                "must be the absolute path of a program and at most \(maximumArguments - 1) arguments"
            )
        }
        return arguments
    }

    var json: JSONValue {
        let usual = Hook(name: name, target: target)
        var members: [String: JSONValue] = [:]
        switch target {
        case .url(let url, let secret):
            members["url"] = .string(url)
            switch secret {
            case .text(let secret): members["secret"] = .string(secret.text)
            case .file(let path): members["secretFile"] = .string(path)
            }
        case .command(let arguments): members["command"] = .array(arguments.map(JSONValue.string))
        }
        if timeout != usual.timeout { members["timeout"] = .number(timeout) }
        if concurrency != usual.concurrency { members["concurrency"] = .integer(Int64(concurrency)) }
        if maximumAge != usual.maximumAge { members["maxAge"] = .number(maximumAge) }
        if let retry { members["retry"] = retry.json }
        return .object(members)
    }
}

/// One receiver of hook deliveries, as an operator configures it. It alone knows the address or command; requests know
/// only the name.
package struct Hook: Hashable, Sendable {
    /// Where deliveries go.
    package enum Target: Hashable, Sendable {
        /// An `http:` or `https:` URL to which signed messages are posted.
        case url(String, Secret)
        /// A program, by its absolute path, and its arguments. It gets the message on standard input.
        case command([String])
    }

    /// What messages to a URL are signed with.
    package enum Secret: Hashable, Sendable {
        case text(WebhookSecret)
        /// The absolute path of a file with one secret per line. Messages are signed with each, so that a receiver can
        /// change from one to the next.
        case file(String)
    }

    /// The range of ``timeout``.
    package static let timeoutRange = 0.1...300.0
    package static let concurrencyRange = 1...100
    /// The range of ``maximumAge``.
    package static let ageRange = 1.0...2_592_000.0

    package let name: String
    package let target: Target
    /// The time limit of one try in seconds.
    package var timeout = 10.0
    /// How many deliveries a worker makes to this hook at once.
    package var concurrency = 4
    /// How many seconds after a job's end its delivery is still tried.
    package var maximumAge = 259_200.0
    /// The delays between tries, where they differ from the defaults.
    package var retry: RetryOverride?

    package init(name: String, target: Target) {
        self.name = name
        self.target = target
    }
}

/// A secret of a webhook in the notation of Standard Webhooks: `whsec_` and 24 to 64 bytes in base64.
package struct WebhookSecret: Hashable, Sendable {
    private static let prefix = "whsec_"
    private static let lengths = 24...64

    /// The text as configured.
    package let text: String
    package let key: HMACKey

    /// Returns nil for any other text.
    package init?(_ text: String) {
        guard text.hasPrefix(Self.prefix), let bytes = Data(base64Encoded: String(text.dropFirst(Self.prefix.count))),
            Self.lengths.contains(bytes.count)
        else { return nil }
        self.text = text
        key = HMACKey(Array(bytes))
    }

    /// What to say of a text that is no secret, without repeating it.
    package static let rule =
        "must be whsec_ and 24 to 64 bytes in base64, as `echo whsec_$(openssl rand -base64 32)` makes"
}
