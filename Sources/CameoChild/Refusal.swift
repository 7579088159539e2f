internal import Glibc

/// Ends the program before it has served a job.
package enum Refusal {
    /// Writes one sentence to standard error and exits with code 2.
    package static func end(_ sentence: String) -> Never {
        let line = Array("\(sentence)\n".utf8)
        write(STDERR_FILENO, line, line.count)
        exit(2)
    }
}
