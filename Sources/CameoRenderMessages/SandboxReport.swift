internal import CameoModel

/// Which layers of the lock-down are in force in a renderer.
package struct SandboxReport: Hashable, Sendable {
    /// prctl(2) PR_SET_NO_NEW_PRIVS: no program that the renderer runs gains privileges.
    package let hasNoNewPrivileges: Bool
    /// The version of Landlock that restricts file access (1: Linux 5.13), or 0 for none. The system call filter also
    /// forbids what older versions cannot restrict (truncate, TCP, signals).
    package let landlockVersion: Int
    /// seccomp(2): system calls are limited to an allow list.
    package let hasSystemCallFilter: Bool
    /// capabilities(7): the renderer has none, even if the worker runs as root.
    package let hasNoCapabilities: Bool

    package init(
        hasNoNewPrivileges: Bool,
        landlockVersion: Int,
        hasSystemCallFilter: Bool,
        hasNoCapabilities: Bool
    ) {
        self.hasNoNewPrivileges = hasNoNewPrivileges
        self.landlockVersion = landlockVersion
        self.hasSystemCallFilter = hasSystemCallFilter
        self.hasNoCapabilities = hasNoCapabilities
    }

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
