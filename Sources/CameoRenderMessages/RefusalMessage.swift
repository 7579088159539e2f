package import CameoModel

/// A renderer's answer to a job that it could not carry out.
package struct RefusalMessage: RenderMessage, Hashable {
    package static let kind = FrameHeader.Kind.refusal

    /// The most places that one message names.
    package static let mostMissing = 64

    package let reason: RenderRefusal.Reason
    /// A predicate that completes a sentence beginning with the source's name: `is not a picture …`.
    package let predicate: String
    /// Offsets of bytes in the source that are missing, in no order; not empty for the reason `bytesMissing` alone.
    package let missing: [Int]

    package init(_ reason: RenderRefusal.Reason, predicate: String) {
        self.reason = reason
        self.predicate = predicate
        missing = []
    }

    package init(missing: [Int]) {
        reason = .bytesMissing
        predicate = "lacks some of its bytes"
        self.missing = missing
    }

    package init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        reason = try reader.choice("reason", RenderRefusal.Reason.self)
        predicate = try reader.string("predicate", maximumBytes: 4_096)
        guard reason == .bytesMissing else {
            missing = []
            return
        }
        missing = try reader.array("missing", maximumCount: Self.mostMissing) {
            if case .integer(let offset) = $0, offset >= 0 { Int(offset) } else { nil }
        }
        guard !missing.isEmpty else { throw MalformedMessage("no bytes are named that are missing") }
    }

    package var json: JSONValue {
        let members: [String: JSONValue] = ["reason": .string(reason.rawValue), "predicate": .string(predicate)]
        guard reason == .bytesMissing else { return .object(members) }
        return .object(members.merging(["missing": .array(missing.map { .integer(Int64($0)) })]) { $1 })
    }
}

/// Which layers of the lock-down are in force in a renderer.
package struct SandboxReport: Hashable, Sendable {
    /// prctl(2) PR_SET_NO_NEW_PRIVS: no program that the renderer runs gains privileges.
    package var hasNoNewPrivileges = false
    /// The version of Landlock that restricts file access (1: Linux 5.13), or 0 for none. The system call filter also
    /// forbids what older versions cannot restrict (truncate, TCP, signals).
    package var landlockVersion = 0
    /// seccomp(2): system calls are limited to an allow list.
    package var hasSystemCallFilter = false
    /// capabilities(7): the renderer has none, even if the worker runs as root.
    package var hasNoCapabilities = false

    package init() {}

    /// The names of the layers that the kernel did not grant, as its documentation spells them.
    package var missing: [String] {
        [
            ("no_new_privs", hasNoNewPrivileges), ("Landlock", landlockVersion > 0), ("seccomp", hasSystemCallFilter),
            ("capset", hasNoCapabilities),
        ]
        .filter { !$0.1 }.map(\.0)
    }

    init(json: JSONValue) throws(MalformedMessage) {
        let reader = try MessageReader(json)
        hasNoNewPrivileges = try reader.bool("noNewPrivileges")
        landlockVersion = try reader.integer("landlock", in: 0...Int(Int32.max))
        hasSystemCallFilter = try reader.bool("seccomp")
        hasNoCapabilities = try reader.bool("noCapabilities")
    }

    var json: JSONValue {
        .object([
            "noNewPrivileges": .bool(hasNoNewPrivileges),
            "landlock": .integer(Int64(landlockVersion)),
            "seccomp": .bool(hasSystemCallFilter),
            "noCapabilities": .bool(hasNoCapabilities),
        ])
    }
}
