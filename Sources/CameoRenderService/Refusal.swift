internal import Glibc

/// Ends the program before it served anything.
enum Refusal {
    /// One sentence to standard error, exit code 2.
    static func end(_ sentence: String) -> Never {
        let line = Array("\(sentence)\n".utf8)
        write(STDERR_FILENO, line, line.count)
        exit(2)
    }
}
