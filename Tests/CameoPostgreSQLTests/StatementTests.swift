import CameoModel
import CameoStore
import Foundation
import StoreConformance
import TestSupport
import Testing

@testable import CameoPostgreSQL

/// Values on their way to the server and back.
@Suite(.timeLimit(.minutes(10)))
struct StatementTests {
    private static let texts = [
        "", " ", "a", "'", "\"", "\\", "\\\"", "{a,b}", "NULL", "null", ",", "\n\t", "é", "e\u{301}", "\"\u{301}",
        "👩‍👩‍👧‍👦", "\u{10FFFF}", "$1", "--", "/*",
    ]

    @Test func textsComeBackByteForByte() async throws {
        let fixture = try await StoreFixture()
        let (single, listed) = try await fixture.store.read { db in
            let single = try Self.texts.map { text in
                let back: String? = try db.value("SELECT $1::text", [text])
                return back.map { Array($0.utf8) }
            }
            let listed: [String] = try db.column(
                "SELECT text FROM unnest($1::text[]) WITH ORDINALITY AS list(text, place) ORDER BY place",
                [SQLArray(Self.texts)]
            )
            return (single, listed.map { Array($0.utf8) })
        }
        #expect(single == Self.texts.map { Array($0.utf8) })
        #expect(listed == Self.texts.map { Array($0.utf8) })
    }

    @Test func bytesNumbersAndNullsComeBack() async throws {
        let fixture = try await StoreFixture()
        try await fixture.store.read { db in
            for data in [Data(), Data([0]), Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })] {
                #expect(try db.value("SELECT $1::bytea", [data]) == data)
            }
            for number in [Int64.min, -1, 0, .max] {
                #expect(try db.value("SELECT $1::bigint", [number]) == number)
            }
            #expect(try db.value("SELECT $1::double precision", [0.1]) == 0.1)
            #expect(try [true, false].map { try db.value("SELECT $1::boolean", [$0]) } == [true, false])
            let none: String? = try db.value("SELECT $1::text", [nil])
            #expect(none == nil)
            let holes: [Int?] = [1, nil, 3]
            #expect(try db.value("SELECT array_to_string($1::bigint[], ',', '-')", [SQLArray(holes)]) == "1,-,3")
        }
    }

    @Test func aTextThatWouldBeCutIsRefused() async throws {
        let fixture = try await StoreFixture()
        await #expect(throws: StoreError.refused(reason: "PostgreSQL keeps no text with a NUL character")) {
            try await fixture.store.read { db in _ = try db.query("SELECT $1::text", ["a\0b"]) }
        }
        #expect(try await fixture.store.status().count(.available) == 0, "the connection is as it was")
    }

    @Test func aColumnOfAnotherTypeIsAnErrorThatNamesIt() async throws {
        let fixture = try await StoreFixture()
        await #expect(throws: StoreError.failed("column \"size\" is not of type Int64")) {
            try await fixture.store.read { db in
                let _: Int64? = try db.value("SELECT 'x' AS size")
            }
        }
    }

    @Test func anErrorInThePipelineLeavesTheConnectionUsable() async throws {
        let fixture = try await StoreFixture()
        await #expect(throws: StoreError.self) {
            try await fixture.store.commit { db in
                try db.execute([.init("SELECT 1"), .init("SELECT 1 / 0"), .init("SELECT 2")])
            }
        }
        #expect(try await fixture.enqueue()[0].id == 1)
    }
}
