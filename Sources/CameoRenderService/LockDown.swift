internal import CSandbox
internal import CameoImaging
internal import CameoRenderMessages
internal import Glibc

/// The walls around a renderer, put up from the inside. There is no way back.
///
/// DESIGN: after libvips has loaded its libraries, which needs files and executable memory, and before the first source.
/// All layers bind the thread that asks for them and those that it starts later, so there must be no other yet.
enum LockDown {
    /// What remains readable: fonts, and what fontconfig wants to know about them. Drawings contain text.
    private static let readableFolders = [
        "/usr/share/fonts", "/usr/local/share/fonts", "/etc/fonts", "/usr/share/fontconfig", "/var/cache/fontconfig",
    ]

    /// A layer that the kernel does not grant is left out and missing in the report: the worker decides. The limits are
    /// set after the files are closed off and before the system calls are.
    static func begin(setLimits: () -> Void) -> SandboxReport {
        let threads = cameo_thread_count()
        guard threads == 1 else {
            Refusal.end("cameo-renderer has \(threads) threads before its lock-down, which would hold only one of them")
        }
        let hasNoNewPrivileges = !isLeftOut("no_new_privs") && cameo_give_up_privileges() == 0
        let landlockVersion = isLeftOut("Landlock") ? 0 : max(0, restrictFiles())
        setLimits()
        // Behind the limits, some of which only a capability may set, and before the filter, which has no capset.
        let hasNoCapabilities = !isLeftOut("capset") && cameo_drop_capabilities() == 0
        let hasSystemCallFilter = !isLeftOut("seccomp") && cameo_restrict_calls(generatesCode) == 0
        return SandboxReport(
            hasNoNewPrivileges: hasNoNewPrivileges,
            landlockVersion: landlockVersion,
            hasSystemCallFilter: hasSystemCallFilter,
            hasNoCapabilities: hasNoCapabilities
        )
    }

    /// libvips compiles its vector loops at run time up to 8.14 (by ORC); from 8.15 on it brings them (by Highway).
    private static var generatesCode: Bool {
        VipsLibrary.version.split(separator: ".").compactMap { Int($0) }.lexicographicallyPrecedes([8, 15])
    }

    private static func restrictFiles() -> Int {
        let folders = (readableFolders + oddFolders).map { UnsafePointer(strdup($0)) }
        defer { for folder in folders { free(UnsafeMutablePointer(mutating: folder)) } }
        return Int(cameo_restrict_files(folders, folders.count))
    }

    /// What a test adds, to play a machine whose font folder cannot be opened. Debug builds only.
    private static var oddFolders: [String] {
        #if DEBUG
            getenv("CAMEO_TEST_FOLDER").map { [String(cString: $0)] } ?? []
        #else
            []
        #endif
    }

    /// Whether a test plays a kernel that lacks this layer. Debug builds only.
    private static func isLeftOut(_ layer: String) -> Bool {
        #if DEBUG
            guard let names = getenv("CAMEO_TEST_WITHOUT") else { return false }
            return String(cString: names).split(separator: ",").contains { $0 == layer }
        #else
            return false
        #endif
    }
}
