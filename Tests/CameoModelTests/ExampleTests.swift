import CameoModel
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ExampleTests {
    @Test(arguments: Example.messages)
    func everyMessageHasAMinimalAndAFullExample(message: String) {
        let names = Example.valid(message).map(\.name)
        #expect(names.contains("minimal.json") && names.contains("full.json"))
        #expect(!Example.refused(message).isEmpty)
    }

    @Test(arguments: Example.valid("thumbnail-request"))
    func requestIsReadAndWrittenUnchanged(example: Example) throws {
        let request = try ThumbnailRequest(parsing: example.data)
        #expect(try request.json.canonicalText == canonical(example.data))
        #expect(try ThumbnailRequest(parsing: request.json.canonicalText.utf8) == request)
        #expect(try request.thumbnailIDs().count == request.renditions.count)
    }

    @Test(arguments: Example.valid("presets"))
    func presetsAreReadAndWrittenUnchanged(example: Example) throws {
        let file = try PresetFile(parsing: example.data)
        #expect(try file.json.canonicalText == canonical(example.data))
        #expect(try PresetFile(parsing: file.json.canonicalText.utf8) == file)
    }

    @Test(arguments: Example.valid("hooks"))
    func hooksAreReadAndWrittenUnchanged(example: Example) throws {
        let file = try HookFile(parsing: example.data)
        #expect(try file.json.canonicalText == canonical(example.data))
        #expect(try HookFile(parsing: file.json.canonicalText.utf8) == file)
    }

    @Test(
        arguments: [
            "enqueue-receipt", "job", "job-failure", "status-report", "batch-report", "health-report", "job-change",
            "hook-delivery", "hook-report", "thumbnail-facts", "batch-end",
        ].flatMap(Example.valid)
    )
    func messageIsReadAndWrittenUnchanged(example: Example) throws {
        let types: [String: any (Codable & Hashable).Type] = [
            "enqueue-receipt": EnqueueReceipt.self, "job": Job.self, "job-failure": JobFailure.self,
            "status-report": StatusReport.self, "batch-report": BatchReport.self, "health-report": HealthReport.self,
            "job-change": JobChange.self, "hook-delivery": HookDelivery.self, "hook-report": HookReport.self,
            "thumbnail-facts": ThumbnailFacts.self, "batch-end": BatchEnd.self,
        ]
        let type = try #require(types[example.message])
        try expectUnchanged(type, example)
    }

    @Test(arguments: Example.valid("job"))
    func jobNamesTheThumbnailsOfItsRequest(example: Example) throws {
        let job = try WireFormat.decode(Job.self, from: example.data)
        guard let request = try? ThumbnailRequest(json: job.request) else {
            #expect(job.thumbnails.isEmpty && job.failure?.code == .requestInvalid)
            return
        }
        #expect(try job.thumbnails.map(\.uri) == request.thumbnailIDs().map(CameoURI.thumbnail))
        #expect(job.thumbnails.map(\.name) == request.renditions.map(\.name))
        #expect(job.source == request.source)
    }

    @Test func failureOfANewerVersionStaysReadable() throws {
        let text = #"{"code":"source.haunted","stage":"fetch","message":"boo","isRetryable":true}"#
        let failure = try WireFormat.decode(JobFailure.self, from: Data(text.utf8))
        #expect(failure.code == .unknown)
        #expect(failure.message == "boo")
        #expect(failure.isRetryable)
    }

    @Test(arguments: Example.messages)
    func everyRefusedExampleHasItsReason(message: String) throws {
        let reasons = try Example.reasons(message)
        #expect(reasons.keys.sorted() == Example.refused(message).map(\.name))
    }

    @Test(arguments: ["thumbnail-request", "presets", "hooks"].flatMap(Example.refused))
    func refusalNamesTheField(example: Example) throws {
        let reason = try #require(try Example.reasons(example.message)[example.name])
        let error = try #require(throws: InvalidRequest.self) {
            switch example.message {
            case "presets": _ = try PresetFile(parsing: example.data)
            case "hooks": _ = try HookFile(parsing: example.data)
            default: _ = try ThumbnailRequest(parsing: example.data)
            }
        }
        if error.path.isEmpty {
            #expect(error.description.contains(reason.field), "\(error)")
        } else {
            #expect(error.path == reason.field, "\(error)")
        }
        #expect(!error.reason.isEmpty)
    }

    private func expectUnchanged(_ type: (some Codable & Hashable).Type, _ example: Example) throws {
        let message = try WireFormat.decode(type, from: example.data)
        let written = try WireFormat.encode(message)
        #expect(try canonical(written) == canonical(example.data))
        #expect(try WireFormat.decode(type, from: written) == message)
        #expect(!written.contains(UInt8(ascii: "\n")), "a message is one line")
    }

    private func canonical(_ data: Data) throws -> String { try JSONValue(parsing: data).canonicalText }
}
