/// The promises about one subject. Each engine has a test for each group, so that they can be run by themselves.
package enum ConformanceGroup: String, CaseIterable {
    case claiming, settling, enqueueing, accepting, joining, limiting, losing, operating, retaining
    case keeping, repairing, backfilling, caching, following, reporting, telling, counting, attaching

    package var cases: [ConformanceCase] { lists.flatMap { $0 } }

    private var lists: [[ConformanceCase]] {
        typealias Case = ConformanceCase
        return switch self {
        case .claiming: [Case.claiming, Case.claims, Case.givingWay]
        case .settling: [Case.settling, Case.settlements, Case.settlementsVaried, Case.fetches]
        case .enqueueing: [Case.enqueueing, Case.enqueueingVaried, Case.batches]
        case .accepting: [Case.acceptance, Case.acceptanceVaried, Case.deletions, Case.deletionsVaried]
        case .joining: [Case.joining, Case.sharing, Case.sharingVaried]
        case .limiting: [Case.limiting, Case.limits, Case.limitsVaried, Case.rates, Case.ratesVaried, Case.fairness]
        case .losing: [Case.losing, Case.rescues, Case.stops, Case.stopsVaried]
        case .operating: [Case.operating, Case.actions, Case.queues, Case.bulk, Case.bulkVaried]
        case .retaining:
            [
                Case.retention, Case.retentionVaried, Case.unused, Case.unusedVaried, Case.leftovers, Case.library,
                Case.forgetting,
            ]
        case .keeping: [Case.keeping]
        case .repairing: [Case.repairs]
        case .backfilling: [Case.backfilling, Case.backfills]
        case .caching: [Case.originals, Case.originalsVaried]
        case .following: [Case.following, Case.feed]
        case .reporting: [Case.reporting]
        case .telling: [Case.telling, Case.sealing]
        case .counting: [Case.counting]
        case .attaching: [Case.attaching]
        }
    }
}

extension ConformanceCase {
    /// The main promises, for another way to stores whose engine keeps them all: through a pooler, or as another role.
    package static let main =
        claiming + givingWay + settling + joining + fetches + limiting + fairness + losing + stops + operating + actions
        + keeping
        + enqueueingVaried + backfilling + originals + following + reporting + telling + sealing + counting
}
