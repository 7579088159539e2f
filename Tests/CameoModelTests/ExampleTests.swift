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

    @Test(arguments: Example.valid("enqueue-receipt"))
    func receiptIsReadAndWrittenUnchanged(example: Example) throws {
        try expectUnchanged(EnqueueReceipt.self, example)
    }

    @Test(arguments: Example.valid("job"))
    func jobIsReadAndWrittenUnchanged(example: Example) throws {
        try expectUnchanged(Job.self, example)
    }

    @Test(arguments: Example.valid("job-failure"))
    func failureIsReadAndWrittenUnchanged(example: Example) throws {
        try expectUnchanged(JobFailure.self, example)
    }

    @Test(arguments: Example.valid("status-report"))
    func statusReportIsReadAndWrittenUnchanged(example: Example) throws {
        try expectUnchanged(StatusReport.self, example)
    }

    @Test(arguments: Example.valid("batch-report"))
    func batchReportIsReadAndWrittenUnchanged(example: Example) throws {
        try expectUnchanged(BatchReport.self, example)
    }

    @Test(arguments: Example.valid("health-report"))
    func healthReportIsReadAndWrittenUnchanged(example: Example) throws {
        try expectUnchanged(HealthReport.self, example)
    }

    @Test(arguments: Example.valid("job-change"))
    func jobChangeIsReadAndWrittenUnchanged(example: Example) throws {
        try expectUnchanged(JobChange.self, example)
    }

    @Test(arguments: Example.valid("hooks"))
    func hooksAreReadAndWrittenUnchanged(example: Example) throws {
        let file = try HookFile(parsing: example.data)
        #expect(try file.json.canonicalText == canonical(example.data))
        #expect(try HookFile(parsing: file.json.canonicalText.utf8) == file)
    }

    @Test(arguments: Example.valid("hook-delivery"))
    func hookDeliveryIsReadAndWrittenUnchanged(example: Example) throws {
        try expectUnchanged(HookDelivery.self, example)
    }

    @Test(arguments: Example.valid("hook-report"))
    func hookReportIsReadAndWrittenUnchanged(example: Example) throws {
        try expectUnchanged(HookReport.self, example)
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

    @Test(arguments: Example.refused("thumbnail-request"))
    func refusalNamesTheField(example: Example) throws {
        let reason = try #require(try Example.reasons(example.message)[example.name])
        try expect(#require(throws: InvalidRequest.self) { try ThumbnailRequest(parsing: example.data) }, reason)
    }

    @Test(arguments: Example.refused("presets"))
    func refusalOfPresetsNamesTheField(example: Example) throws {
        let reason = try #require(try Example.reasons(example.message)[example.name])
        try expect(#require(throws: InvalidRequest.self) { try PresetFile(parsing: example.data) }, reason)
    }

    @Test(arguments: Example.refused("hooks"))
    func refusalOfHooksNamesTheField(example: Example) throws {
        let reason = try #require(try Example.reasons(example.message)[example.name])
        try expect(#require(throws: InvalidRequest.self) { try HookFile(parsing: example.data) }, reason)
    }

    private func expect(_ error: InvalidRequest, _ reason: Example.Refusal) {
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
