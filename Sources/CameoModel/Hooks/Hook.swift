/// One receiver of hook deliveries, as an operator configures it. It alone knows the address or command; requests know
/// only the name.
package struct Hook: Hashable, Sendable {
    /// Where deliveries go.
    package enum Target: Hashable, Sendable {
        /// An `http:` or `https:` URL to which signed messages are posted.
        case url(String, Secret)
        /// A program, by its absolute path, and its arguments. It gets the message on standard input.
        case command([String])
    }

    /// What messages to a URL are signed with.
    package enum Secret: Hashable, Sendable {
        case text(WebhookSecret)
        /// The absolute path of a file with one secret per line. Messages are signed with each, so that a receiver can
        /// change from one to the next.
        case file(String)
    }

    /// The range of ``timeout``.
    package static let timeoutRange = 0.1...300.0
    package static let concurrencyRange = 1...100
    /// The range of ``maximumAge``.
    package static let ageRange = 1.0...2_592_000.0

    package let name: String
    package let target: Target
    /// The time limit of one try in seconds.
    package var timeout = 10.0
    /// How many deliveries a worker makes to this hook at once.
    package var concurrency = 4
    /// How many seconds after a job's end its delivery is still tried.
    package var maximumAge = 259_200.0
    /// The delays between tries, where they differ from the defaults.
    package var retry: RetryOverride?

    package init(name: String, target: Target) {
        self.name = name
        self.target = target
    }
}
