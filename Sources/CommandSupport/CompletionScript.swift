/// Corrects ArgumentParser's completion script of a command without subcommands.
///
/// The script offers `help` as if it were one (`ToolInfoV0` adds it to every root). The command does not know this
/// word, and beside a repeating argument zsh's `_arguments` then completes nothing.
enum CompletionScript {
    static func withoutSubcommands(_ script: String) -> String {
        script.split(separator: "\n", omittingEmptySubsequences: false).filter { line in
            let words = line.drop { $0 == " " }
            return !zsh.contains(words) && words != bash && !line.contains(fish)
        }
        .joined(separator: "\n")
    }

    private static let zsh: Set<Substring> = ["'(-): :->command'", "'(-)*:: :->arg'"]
    private static let bash: Substring = "COMPREPLY+=($(compgen -W 'help' -- \"${cur}\"))"
    private static let fish = "-fa 'help' -d "
}
