/// ArgumentParser's completion script of a command without subcommands.
///
/// It offers `help` all the same as one (`ToolInfoV0` adds it to every root): a word that the command does not know, and
/// beside a repeating argument more than zsh's `_arguments` takes, which then completes nothing.
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
