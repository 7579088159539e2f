internal import CameoModel

/// Which layers of its lock-down are in force in a renderer.
package struct SandboxReport: Hashable, Sendable {
    /// prctl(2) PR_SET_NO_NEW_PRIVS: no program that it runs gains rights.
    package let hasNoNewPrivileges: Bool
    /// The version of Landlock that holds its files (1: Linux 5.13), 0 without. What older versions cannot say (truncate,
    /// TCP, signals) the system call filter forbids as well.
    package let landlockVersion: Int
    /// seccomp(2): its system calls are on a list.
    package let hasSystemCallFilter: Bool
    /// capabilities(7): it has none, also where the worker runs as root.
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

    /// The names of the layers that the kernel did not grant, as its own documentation calls them.
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
