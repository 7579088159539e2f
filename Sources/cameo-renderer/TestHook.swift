#if DEBUG
    internal import CameoModel
    internal import CameoRenderMessages
    internal import Glibc

    /// Lets tests make a renderer die on purpose, or try to break out, by a source that begins with one of these words.
    /// Debug builds only.
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

        /// Tries what the words behind it say (``BreakOut``) and answers with what became of it.
        case tryToBreakOut = "CAMEO-TEST-TRY "

        /// The answer, for words that want one; nil for pictures.
        static func obey(_ file: OpenFile) -> RefusalMessage? {
            var start = [UInt8](repeating: 0, count: 512)
            start.removeLast(start.count - max(0, pread(file.descriptor, &start, start.count, 0)))
            guard let hook = allCases.first(where: { start.starts(with: Array($0.rawValue.utf8)) }) else { return nil }
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
                write(3, [UInt8](repeating: 255, count: 64), 64)
                while true { pause() }
            case .tryToBreakOut:
                let words = String(decoding: start.dropFirst(hook.rawValue.utf8.count), as: UTF8.self)
                return RefusalMessage(.failed, predicate: BreakOut.attempt(words, file))
            }
            return nil
        }
    }
#endif
