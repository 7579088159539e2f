import CameoModel
import Foundation
import TestSupport
import Testing

@testable import CameoObjectStorage

/// What the article about buckets shows is what the code needs.
struct ArticleTests {
    @Test func thePolicyAllowsEveryRequestAndNothingElse() throws {
        let blocks = try Page.article("SharedBytes").blocks.filter { $0.language == "json" }.map { Data($0.text.utf8) }
        #expect(blocks.count == 2)
        let policy = try JSONSerialization.jsonObject(with: try #require(blocks.first)) as? [String: Any]
        let statements = try #require(policy?["Statement"] as? [[String: Any]])
        var actions: [String: Set<String>] = [:]
        for statement in statements {
            let resource = try #require(statement["Resource"] as? String)
            actions[resource] = Set(try #require(statement["Action"] as? [String]))
        }
        // A HEAD is a GetObject; creating an upload, its parts and its end are PutObject.
        #expect(
            actions == [
                "arn:aws:s3:::bucket/cameo/*": [
                    "s3:GetObject", "s3:PutObject", "s3:DeleteObject", "s3:AbortMultipartUpload",
                ],
                "arn:aws:s3:::bucket": ["s3:ListBucket", "s3:ListBucketMultipartUploads"],
            ]
        )
        for block in blocks { _ = try JSONSerialization.jsonObject(with: block) }
    }

    @Test func theNumbersAreThoseOfTheCode() throws {
        let text = try Page.article("SharedBytes").text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let configuration = ObjectStorageConfiguration(environment: [:])
        #expect(configuration.retries.patience == .seconds(60) && text.contains("tried again for a minute"))
        for number in [
            "up to \(configuration.largestPut / 1_048_576) MiB", "parts of \(configuration.partBytes / 1_048_576) MiB",
            "grow up to \(Int(configuration.retries.longestPause.seconds)) seconds",
            "Connecting may take \(Int(configuration.limits.connect.seconds)) seconds",
            "\(configuration.limits.lowSpeed / 1_024) KiB a second for \(Int(configuration.limits.stall.seconds)) seconds",
            "up to \(configuration.concurrency) transfers at a time",
        ] { #expect(text.contains(number), "\(number)") }
        #expect(configuration.partsAtOnce == 4 && text.contains("four at a time"))
        #expect(text.contains("replaced five minutes before they end"))
    }
}
