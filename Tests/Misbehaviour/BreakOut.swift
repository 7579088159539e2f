internal import CAttempt
internal import CameoModel
internal import CameoSystem
internal import Glibc

/// What a test makes a child process try from inside its walls, as code that a picture smuggled in would.
enum BreakOut {
    /// The words are `open FLAGS PATH`, `call NAME NUMBER…` (a system call), `spawn PATH`, `connect PATH`,
    /// `tcp PORT`, `look CALL WORD…`, `code mapped` or `code protected` (memory that may be executed), `append` (to the source's file),
    /// `descriptors`, `environment`, `threads NUMBER` or `memory FIRST ROUNDS` (what freed blocks held). The answer is the end of a sentence: `was done`,
    /// `was refused: 1 Operation not permitted`, or what there is to see.
    static func attempt(_ words: String, _ file: OpenFile) -> String {
        let words = words.split(whereSeparator: \.isWhitespace).map(String.init)
        let numbers = words.compactMap { Int($0) }
        errno = 0
        switch words.first {
        case "open": return outcome(openat(AT_FDCWD, words[2], Int32(numbers[0]), 0o600))
        case "call":
            let arguments = numbers + [Int](repeating: 0, count: 6)
            return outcome(cameo_try_call(words[1], arguments))
        case "look": return look(words[1], words[2...])
        case "spawn": return spawn(words[1])
        case "connect": return connect(to: words[1])
        case "tcp": return connectByTCP(to: numbers[0])
        case "code": return code(words[1])
        case "append": return outcome(Int(write(file.descriptor, "x", 1)))
        case "descriptors": return descriptors(besides: file)
        case "environment": return environment()
        case "threads": return threads(numbers[0])
        case "memory": return "found \(cameo_find_left_memory(Int32(numbers[0]), Int32(numbers[1]))) bytes"
        default: return "is no attempt that is known"
        }
    }

    /// The words are a system call's name and what it is given; PATH stands for the last word, BUFFER for room.
    private static func look(_ call: String, _ words: ArraySlice<String>) -> String {
        let path = strdup(words.last ?? "")
        let buffer = UnsafeMutableRawPointer.allocate(byteCount: 4_096, alignment: 16)
        defer {
            free(path)
            buffer.deallocate()
        }
        let arguments = words.dropLast().map { word in
            switch word {
            case "PATH": Int(bitPattern: path)
            case "BUFFER": Int(bitPattern: buffer)
            default: Int(word) ?? 0
            }
        }
        errno = 0
        return outcome(cameo_try_call(call, arguments + [Int](repeating: 0, count: 6)))
    }

    private static func outcome(_ result: some BinaryInteger) -> String {
        result < 0 ? refused(errno) : "was done"
    }

    private static func refused(_ code: Int32) -> String { "was refused: \(code) \(Errno(code))" }

    private static func spawn(_ path: String) -> String {
        var child: pid_t = 0
        var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(path), nil]
        defer { free(arguments[0]) }
        let result = posix_spawn(&child, path, nil, nil, &arguments, nil)
        return result == 0 ? "was done" : refused(result)
    }

    /// A new connection to this machine.
    private static func connectByTCP(to port: Int) -> String {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard socket >= 0 else { return refused(errno) }
        defer { close(socket) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                outcome(Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)))
            }
        }
    }

    /// By the socket that it has, to a listener of a Unix socket.
    private static func connect(to path: String) -> String {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                outcome(Glibc.connect(3, $0, socklen_t(MemoryLayout<sockaddr_un>.size)))
            }
        }
    }

    private static func code(_ kind: String) -> String {
        let size = 4_096
        if kind == "mapped" {
            let flags = MAP_PRIVATE | MAP_ANONYMOUS
            return outcome(mmap(nil, size, PROT_READ | PROT_WRITE | PROT_EXEC, flags, -1, 0) == MAP_FAILED ? -1 : 0)
        }
        let page = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        return outcome(mprotect(page, size, PROT_READ | PROT_EXEC))
    }

    /// Those that are open, without the source.
    private static func descriptors(besides file: OpenFile) -> String {
        let open = (0..<Int32(1_024)).filter { $0 != file.descriptor && fcntl($0, F_GETFD) >= 0 }
        return "sees " + open.map(String.init).joined(separator: " ")
    }

    private static func environment() -> String {
        var names: [String] = []
        var next = environ
        while let entry = next.pointee {
            names.append(String(cString: entry))
            next += 1
        }
        return "sees " + names.sorted().joined(separator: " ")
    }

    /// Starts threads and waits for them.
    private static func threads(_ count: Int) -> String {
        for _ in 0..<count {
            var thread = pthread_t()
            let result = pthread_create(&thread, nil, { _ in nil }, nil)
            guard result == 0 else { return refused(result) }
            pthread_join(thread, nil)
        }
        return "was done"
    }
}
