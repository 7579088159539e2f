@testable import CameoModel

extension HookFile {
    /// The wire form, without fields that equal their defaults.
    var json: JSONValue {
        .object(["hooks": .object(Dictionary(uniqueKeysWithValues: hooks.map { ($0.name, $0.json) }))])
    }
}

extension Hook {
    fileprivate var json: JSONValue {
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
