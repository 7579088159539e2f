internal import CameoModel
internal import CameoQueue
internal import CameoStore

extension AttemptTimings {
    /// The columns of an attempt's times and sizes.
    static let columnNames = "wait_ms, fetch_ms, queue_ms, render_ms, store_ms, source_bytes, output_bytes"

    /// The values of ``columnNames``, each a list with one for each attempt.
    static func columns(_ timings: [AttemptTimings?]) -> [(any SQLBindable)?] {
        func list(_ value: (AttemptTimings) -> Int?) -> SQLArray { SQLArray(timings.map { $0.flatMap(value) }) }
        return [
            list(\.throttledMilliseconds), list(\.fetchMilliseconds), list(\.queueMilliseconds),
            list(\.renderMilliseconds),
            list(\.storeMilliseconds), list(\.sourceBytes), list(\.outputBytes),
        ]
    }
}
