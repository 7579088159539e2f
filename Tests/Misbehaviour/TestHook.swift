internal import CameoModel
package import CameoRenderMessages
package import CameoSystem
internal import Glibc

/// Lets tests make a renderer or `cameo-frames` die on purpose, or try to break out, by a source that begins with one of
/// these words, or with the type box of an MP4, twelve bytes long, and one of them.
package enum TestHook: String, CaseIterable {
    /// Ends as a read where nothing is would.
    case crash = "CAMEO-TEST-CRASH"
    /// Waits for ever.
    case hang = "CAMEO-TEST-HANG"
    /// Takes memory in small pieces until there is none, then ends as g_malloc does.
    case allocate = "CAMEO-TEST-ALLOCATE"
    /// Asks for more memory than there can be, in one piece, and ends as g_malloc does.
    case allocateAtOnce = "CAMEO-TEST-ONE-ALLOCATION"
    /// Reads the second page of its source until that has gone.
    case truncatedSource = "CAMEO-TEST-TRUNCATED-SOURCE"
    /// Ends as a read behind the end of a truncated source does; nobody has truncated it.
    case busError = "CAMEO-TEST-BUS-ERROR"
    /// Takes most of the memory that it may have, untouched, and calls itself until its stack overflows.
    case overflow = "CAMEO-TEST-OVERFLOW"
    /// Answers with bytes that are no message.
    case babble = "CAMEO-TEST-BABBLE"

    /// Tries what the words behind it say (``BreakOut``) and answers with what became of it.
    case tryToBreakOut = "CAMEO-TEST-TRY "

    /// The answer, for words that want one; nil for pictures.
    package static func obey(_ file: OpenFile) -> RefusalMessage? {
        var start = [UInt8](repeating: 0, count: 512)
        start.removeLast(start.count - max(0, pread(file.descriptor, &start, start.count, 0)))
        if start.dropFirst(4).starts(with: Array("ftyp".utf8)) { start = Array(start.dropFirst(12)) }
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
            let size = 8_192
            let start = mmap(nil, size, PROT_READ, MAP_PRIVATE, file.descriptor, 0)
            while start?.load(fromByteOffset: size - 1, as: UInt8.self) != nil { usleep(1_000) }
        case .busError:
            raise(SIGBUS)
        case .overflow:
            _ = mmap(nil, 1_200 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
            _ = deepen(0)
        case .babble:
            write(3, [UInt8](repeating: 255, count: 64), 64)
            while true { pause() }
        case .tryToBreakOut:
            let words = String(decoding: start.dropFirst(hook.rawValue.utf8.count), as: UTF8.self)
            return RefusalMessage(.failed, predicate: BreakOut.attempt(words, file))
        }
        return nil
    }

    private static func deepen(_ depth: Int) -> Int { depth == .max ? 0 : deepen(depth + 1) + depth }
}
