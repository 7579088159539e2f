import CameoModel
import CameoStore
import Foundation
import Testing

/// Where a reader of the feed goes on, and what it is told.
@Suite(.timeLimit(.minutes(10)))
struct FeedPageTests {
    private struct Failure: Error {}

    /// The page after a cursor of a feed that has the changes from a number on.
    private func page(_ cursor: String?, from first: Int64, to newest: Int64) throws -> FeedPage {
        // The backup was taken at 5, the restored store backed up at 8, and the backup of 5 restored once more.
        let epochs: [FeedEpoch] = [("0", 0), ("0.a", 5), ("0.b", 8), ("0.c", 5)]
        let seen = try cursor.map { try #require(FeedCursor($0)) }
        return try FeedPage(after: seen, epochs: epochs, newest: newest) { start throws(Failure) in
            guard newest >= first else { return [] }
            return (first...newest).filter { $0 > start }
                .map { JobChange(cursor: $0, job: 1, state: .available, at: Date(timeIntervalSince1970: 0)) }
        }
    }

    @Test(
        arguments: [
            // The present, and the beginning.
            (nil, 1, 9, "0.c-9", 0, nil), ("0", 1, 9, "0.c-0", 9, nil), ("0.c-0", 4, 9, "0.c-3", 6, nil),
            // This epoch, with and without its name.
            ("0.c-7", 1, 9, "0.c-7", 2, nil), ("7", 1, 9, "0.c-7", 2, nil), ("0.c-9", 1, 9, "0.c-9", 0, nil),
            // Changes that are no longer kept.
            ("2", 5, 9, "0.c-4", 5, 3...4), ("0.c-2", 5, 9, "0.c-4", 5, 3...4), ("0.b-2", 5, 9, "0.c-4", 5, 3...4),
            // Numbers that this store has not issued.
            ("12", 1, 9, "0.c-9", 0, 10...12), ("0.c-12", 1, 9, "0.c-9", 0, 10...12), ("3", 1, 0, "0.c-0", 0, 1...3),
            // Earlier epochs, before and after the parting.
            ("0-5", 1, 9, "0.c-5", 4, nil), ("0-6", 1, 9, "0.c-5", 4, 6...6), ("0.a-8", 1, 9, "0.c-5", 4, 6...8),
            ("0.b-9", 1, 9, "0.c-5", 4, 6...9), ("0.a-3", 1, 9, "0.c-3", 6, nil), ("0-9", 8, 9, "0.c-7", 2, 6...9),
            ("0-6", 8, 9, "0.c-7", 2, 6...7),
            // Another store's.
            ("0.z-3", 1, 9, "0.c-9", 0, 1...9), ("0.z-30", 1, 9, "0.c-9", 0, 1...9), ("0.z-3", 1, 0, "0.c-0", 0, nil),
        ] as [(String?, Int64, Int64, String, Int, ClosedRange<Int64>?)]
    )
    func aReaderGoesOn(
        cursor: String?,
        first: Int64,
        newest: Int64,
        start: String,
        count: Int,
        gap: ClosedRange<Int64>?
    ) throws {
        let page = try page(cursor, from: first, to: newest)
        #expect(page.start.description == start && page.changes.count == count && page.gap == gap)
        let next = FeedCursor(page.changes.last?.cursor ?? page.start.number, in: "0.c")
        #expect(page.next == next)
    }

    /// As a client may send it whose connection was cut within an id.
    @Test func theBeginningOfACursorIsNotBeyondIt() throws {
        for epoch in ["0", "0.4071", "0.7312345678901234567.00000001.16402"] {
            let whole = FeedCursor(4711, in: epoch)
            #expect(FeedCursor(whole.description) == whole)
            for length in 1..<whole.description.utf8.count {
                let cut = try #require(FeedCursor(whole.description.prefix(length)))
                #expect(cut.number <= whole.number && (cut.epoch ?? epoch) == epoch, "\(cut)")
            }
        }
    }

    @Test(arguments: ["", "-", "-1", "a", "a-b", "0-b", "1-2-3", "+1", " 1", "0--1", "99999999999999999999"])
    func nothingElseIsACursor(text: String) {
        #expect(FeedCursor(text) == nil)
    }
}
