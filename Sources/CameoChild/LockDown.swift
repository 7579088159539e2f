internal import CSandbox
internal import CameoRenderMessages
internal import Glibc

/// Locks a child down from the inside. This cannot be undone.
///
/// DESIGN: the lock-down runs after the child has loaded its libraries, which needs files and executable memory, and
/// before the first source arrives. All layers bind the calling thread and threads that it starts later, so there must
/// be no other thread yet.
enum LockDown {
    /// Applies all layers. A layer that the kernel does not support is skipped and missing in the report; the worker
    /// decides what follows. The limits are set after file access is restricted and before system calls are.
    static func begin(_ program: String, _ needs: ChildNeeds, setLimits: () -> Void) -> SandboxReport {
        let threads = cameo_thread_count()
        guard threads == 1 else {
            Refusal.end("\(program) has \(threads) threads before its lock-down, which would bind only one of them")
        }
        let hasNoNewPrivileges = !isLeftOut("no_new_privs") && cameo_give_up_privileges() == 0
        let landlockVersion = isLeftOut("Landlock") ? 0 : max(0, restrictFiles(to: needs.readableFolders))
        setLimits()
        // After the limits, some of which need a capability, and before the filter, which forbids capset.
        let hasNoCapabilities = !isLeftOut("capset") && cameo_drop_capabilities() == 0
        let hasSystemCallFilter = !isLeftOut("seccomp") && cameo_restrict_calls(needs.generatesCode) == 0
        return SandboxReport(
            hasNoNewPrivileges: hasNoNewPrivileges,
            landlockVersion: landlockVersion,
            hasSystemCallFilter: hasSystemCallFilter,
            hasNoCapabilities: hasNoCapabilities
        )
    }

    private static func restrictFiles(to readableFolders: [String]) -> Int {
        let folders = (readableFolders + oddFolders).map { UnsafePointer(strdup($0)) }
        defer { for folder in folders { free(UnsafeMutablePointer(mutating: folder)) } }
        return Int(cameo_restrict_files(folders, folders.count))
    }

    /// An extra folder by which tests simulate a font folder that cannot be opened. Debug builds only.
    private static var oddFolders: [String] {
        #if DEBUG
            getenv("CAMEO_TEST_FOLDER").map { [String(cString: $0)] } ?? []
        #else
            []
        #endif
    }

    /// Whether a test simulates a kernel without this layer. Debug builds only.
    private static func isLeftOut(_ layer: String) -> Bool {
        #if DEBUG
            guard let names = getenv("CAMEO_TEST_WITHOUT") else { return false }
            return String(cString: names).split(separator: ",").contains { $0 == layer }
        #else
            return false
        #endif
    }
}
