internal import CameoFetch
package import CameoModel
package import Foundation

/// The hooks of a worker, ready for use: URLs parsed and secrets read.
package struct HookSettings: Sendable {
    /// A hook with what its deliveries need.
    package struct Receiver: Sendable {
        enum Way: Sendable {
            case post(PostTarget, keys: [HMACKey])
            case command([String])
        }

        let hook: Hook
        let way: Way
    }

    /// A worker without a hooks file delivers nothing.
    package static let none = HookSettings()

    let receivers: [String: Receiver]

    private init() { receivers = [:] }

    /// - Parameters:
    ///   - file: the hooks as configured.
    ///   - read: reads a file of secrets.
    /// - Throws: `InvalidRequest` that names the field.
    package init(_ file: HookFile, read: (String) throws(Errno) -> Data) throws(InvalidRequest) {
        var receivers: [String: Receiver] = [:]
        for hook in file.hooks { receivers[hook.name] = Receiver(hook: hook, way: try Self.way(to: hook, read)) }
        self.receivers = receivers
    }

    private static func way(
        to hook: Hook,
        _ read: (String) throws(Errno) -> Data
    ) throws(InvalidRequest) -> Receiver.Way {
        switch hook.target {
        case .command(let arguments): return .command(arguments)
        case .url(let text, let secret):
            let target: PostTarget
            do throws(InvalidRequest) {
                target = try PostTarget(text)
            } catch {
                throw InvalidRequest(path: "hooks.\(hook.name).url", reason: error.reason)
            }
            switch secret {
            case .text(let secret): return .post(target, keys: [secret.key])
            case .file(let path): return .post(target, keys: try keys(of: hook, in: path, read))
            }
        }
    }

    private static func keys(
        of hook: Hook,
        in path: String,
        _ read: (String) throws(Errno) -> Data
    ) throws(InvalidRequest) -> [HMACKey] {
        func refuse(_ reason: String) -> InvalidRequest {
            InvalidRequest(path: "hooks.\(hook.name).secretFile", reason: "\(path): \(reason)")
        }
        let data: Data
        do throws(Errno) {
            data = try read(path)
        } catch {
            throw refuse("cannot be read: \(error)")
        }
        var keys: [HMACKey] = []
        for line in String(decoding: data, as: UTF8.self).lines {
            let text = line.trimmingCharacters(in: .whitespaces)
            if text.isEmpty { continue }
            guard let secret = WebhookSecret(text) else { throw refuse("each line \(WebhookSecret.rule)") }
            keys.append(secret.key)
        }
        guard !keys.isEmpty else { throw refuse("has no secret") }
        return keys
    }

    /// The names of all hooks, sorted.
    package var names: [String] { receivers.keys.sorted() }
}
