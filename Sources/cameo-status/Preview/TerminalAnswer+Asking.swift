internal import ArgumentParser
internal import CameoReport
internal import CommandSupport
internal import Foundation
internal import Glibc

extension TerminalAnswer {
    /// How long a terminal, perhaps a distant one, has for its answer. Nearly all answer at once.
    private static let limit = Duration.milliseconds(500)

    /// Asks the terminal, and waits for the answer; an empty one if there is no terminal on standard input and output. The
    /// thread has nothing else to do meanwhile.
    static func ofTerminal() throws(ExitCode) -> TerminalAnswer {
        var (answer, modes) = (TerminalAnswer(), termios())
        // A terminal stops a program in the background that changes its modes.
        guard Output.outputIsTerminal, tcgetattr(STDIN_FILENO, &modes) == 0, tcgetpgrp(STDIN_FILENO) == getpgrp()
        else { return answer }
        var silent = modes
        // The answer comes like keys: it is not to be shown, and has no end of line. Ctrl-C would leave the terminal so.
        silent.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG)
        guard tcsetattr(STDIN_FILENO, TCSADRAIN, &silent) == 0 else { return answer }
        Output.bytes(Data(question.utf8))
        let end = ContinuousClock.now + limit
        var byte: UInt8 = 0
        // One by one, so that keys pressed for whatever comes next stay where they are.
        while !answer.isComplete, byte != Screen.interrupt, waitForInput(until: end), read(STDIN_FILENO, &byte, 1) == 1
        {
            answer.text.unicodeScalars.append(UnicodeScalar(byte))
        }
        tcsetattr(STDIN_FILENO, TCSADRAIN, &modes)
        if byte == Screen.interrupt { throw ExitCode(128 + SIGINT) }
        return answer
    }

    private static func waitForInput(until end: ContinuousClock.Instant) -> Bool {
        let left = max(.zero, ContinuousClock.now.duration(to: end)) / .milliseconds(1)
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        return poll(&input, 1, Int32(left.rounded(.up))) == 1
    }
}
