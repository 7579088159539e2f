#if DEBUG
    internal import CameoImaging
    internal import Glibc

    /// Lets tests make a renderer die on purpose, by a source that begins with one of these words. Debug builds only.
    enum TestHook: String, CaseIterable {
        /// Ends as a read where nothing is would.
        case crash = "CAMEO-TEST-CRASH"
        /// Waits for ever.
        case hang = "CAMEO-TEST-HANG"
        /// Takes memory in small pieces until there is none, then ends as g_malloc does.
        case allocate = "CAMEO-TEST-ALLOCATE"
        /// Asks for more memory than there can be, in one piece, and ends as g_malloc does.
        case allocateAtOnce = "CAMEO-TEST-ONE-ALLOCATION"
        /// Ends as a read behind the end of a truncated source does.
        case truncatedSource = "CAMEO-TEST-TRUNCATED-SOURCE"
        /// Answers with bytes that are no message.
        case babble = "CAMEO-TEST-BABBLE"

        static func obey(_ source: borrowing SourceMapping) {
            let start = source.prefix(64)
            guard let hook = allCases.first(where: { start.starts(with: Array($0.rawValue.utf8)) }) else { return }
            switch hook {
            case .crash:
                raise(SIGSEGV)
            case .hang:
                while true { pause() }
            case .allocate:
                while malloc(1 << 24) != nil {}
                raise(SIGTRAP)
            case .allocateAtOnce:
                if malloc(1 << 40) == nil { raise(SIGTRAP) }
            case .truncatedSource:
                raise(SIGBUS)
            case .babble:
                send(3, [UInt8](repeating: 255, count: 64), 64, 0)
                while true { pause() }
            }
        }
    }
#endif
