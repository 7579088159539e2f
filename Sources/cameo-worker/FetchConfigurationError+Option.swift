internal import CameoFetch
internal import CommandSupport

extension FetchConfigurationError {
    /// The failure, naming the option at fault.
    func failure(of command: CameoWorkerCommand) -> CommandFailure {
        let option: String? =
            switch self {
            case .root: "--allow-root"
            case .host(let text): command.sources.allowHost.contains(text) ? "--allow-host" : "--cache-time"
            case .rewrite: "--rewrite"
            case .hostHeader: "--host-header"
            case .systemCall, .store, .limit, .library: nil
            }
        return CommandFailure((option.map { "\($0): " } ?? "") + description, .usage)
    }
}
