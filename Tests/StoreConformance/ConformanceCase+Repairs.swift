import CameoModel
import CameoStore
import Foundation
import Testing

extension Fixture {
    /// What a check says of blobs, if they are not all sound.
    fileprivate func trouble() async throws -> String? {
        let blobs = try await store.check { _ in }.first { $0.subject == "blobs" }
        return try #require(blobs).severity == .ok ? nil : blobs?.message
    }
}

extension ConformanceCase {
    static let repairs: [ConformanceCase] = [
        ConformanceCase("a row whose bytes are on their way is no damage") { fixture in
            let id = try await fixture.makeThumbnail()
            let digest = SHA256.digest(of: Data("on its way".utf8)).hex
            let now = fixture.clock.now.milliseconds
            try await fixture.sql("INSERT INTO blob(digest, size, created_at) VALUES ('\(digest)', 10, \(now))")
            #expect(try await fixture.trouble() == nil)
            fixture.clock.advance(seconds: 3_600)
            #expect(try await fixture.trouble() != nil, "it never came")
            try await fixture.sql("UPDATE blob SET created_at = created_at + 3600000")
            #expect(try await fixture.trouble() == nil)
            try await fixture.sql("UPDATE thumbnail SET blob = '\(digest)' WHERE id = '\(id.text)'")
            #expect(try await fixture.trouble() != nil, "something refers to it")
        },
    ]
}
