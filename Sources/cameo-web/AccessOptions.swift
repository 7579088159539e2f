internal import ArgumentParser
internal import CameoModel
internal import CameoStore
internal import CameoWeb
internal import CommandSupport
internal import Foundation

/// The options of who may read and write, and of what URLs are signed with.
struct AccessOptions: ParsableArguments {
    @Option(
        help: """
            A file of bearer tokens, one per line: a name, comma-separated scopes (read,enqueue,operate), and the \
            token or sha256- and its digest. SIGHUP rereads it. (default: anyone may read, and nobody may write)
            """.taking("file"),
        completion: .file()
    )
    var tokens: String?

    @Option(
        help: """
            A name that clients may reach the server by if there are no --tokens; localhost, addresses and Unix sockets \
            need none. Repeatable.
            """.taking("name")
    )
    var host: [String] = []

    @Option(
        help: """
            An origin, such as https://www.example, whose pages may read what this server answers, or * for all: see what \
            --tokens leaves open. Repeatable. (default: none)
            """.taking("origin")
    )
    var allowOrigin: [String] = []

    @Option(
        help: """
            A file with a secret of at least 16 bytes that signs /make URLs. Repeatable, so that an old key can \
            overlap with its successor.
            """.taking("file"),
        completion: .file()
    )
    var signKey: [String] = []

    @Option(
        help: """
            Answer imgproxy's URLs too: a file with a key and a salt per line, in hexadecimal and separated by a space, \
            as in IMGPROXY_KEY and IMGPROXY_SALT.
            """.taking("file"),
        completion: .file()
    )
    var imgproxy: String?

    @Flag(help: "Answer unsigned /make URLs: anyone who can reach the server can have any thumbnail made.")
    var unsigned = false

    @Option(
        help: """
            A file of presets (proto-json/presets.schema.json) for /make, in addition to the built-in ones.
            """.taking("file.json"),
        completion: .file()
    )
    var presets: String?

    func validate() throws {
        guard host.isEmpty || tokens == nil else {
            throw ValidationError("--host: has no effect with --tokens")
        }
        guard !allowOrigin.contains("*") || allowOrigin.count == 1 else {
            throw ValidationError("--allow-origin *: allows all origins, so no other can be named")
        }
        guard !unsigned || signKey.isEmpty else {
            throw ValidationError("--unsigned and --sign-key are mutually exclusive")
        }
    }

    /// - Throws: ``CommandFailure`` that names the option.
    func apply(to configuration: inout WebConfiguration) throws {
        configuration.tokens = try readTokens()
        configuration.hosts = Set(
            try host.map { name in
                guard let host = HostName(name) else {
                    throw CommandFailure("--host \(name): must be a name such as pictures.example", .usage)
                }
                return host
            }
        )
        if !allowOrigin.isEmpty {
            configuration.allowedOrigins = AllowedOrigins(
                try allowOrigin.filter { $0 != "*" }.map { text in
                    guard let origin = Endpoint(text), !text.hasSuffix("/") else {
                        throw CommandFailure(
                            "--allow-origin \(text): must be an origin such as https://www.example, without a path, or *",
                            .usage
                        )
                    }
                    return origin
                }
            )
        }
        configuration.signingKeys = try signKey.map { path in
            var secret = [UInt8](try InputFile.read(path, of: "--sign-key \(path)"))
            if secret.last == UInt8(ascii: "\n") {
                secret.removeLast()
                if secret.last == UInt8(ascii: "\r") { secret.removeLast() }
            }
            guard let key = SigningKey(secret) else {
                throw CommandFailure("--sign-key \(path): must have at least \(SigningKey.minimumBytes) bytes", .usage)
            }
            return key
        }
        configuration.allowsUnsigned = unsigned
        if let imgproxy {
            let text = String(decoding: try InputFile.read(imgproxy, of: "--imgproxy \(imgproxy)"), as: UTF8.self)
            configuration.imgproxyKeys = try CommandFailure.naming("--imgproxy \(imgproxy)") {
                try ImgproxyKey.all(parsing: text)
            }
            guard !configuration.imgproxyKeys.isEmpty else {
                throw CommandFailure("--imgproxy \(imgproxy): contains no keys", .usage)
            }
        }
        configuration.presets = try Presets.load(presets, environment: [:])
    }

    /// - Throws: ``CommandFailure`` that names the option.
    func readTokens() throws -> AccessTokens {
        guard let tokens else { return AccessTokens() }
        let text = String(decoding: try InputFile.read(tokens, of: "--tokens \(tokens)"), as: UTF8.self)
        let parsed = try CommandFailure.naming("--tokens \(tokens)") { try AccessTokens(parsing: text) }
        guard !parsed.isEmpty else { throw CommandFailure("--tokens \(tokens): contains no tokens", .usage) }
        return parsed
    }
}
