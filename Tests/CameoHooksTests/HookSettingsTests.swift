import CameoFetch
import CameoHooks
import CameoModel
import CameoSystem
import Foundation
import Testing

@Suite(.timeLimit(.minutes(10)))
struct HookSettingsTests {
    private static let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

    /// The example of the Standard Webhooks libraries.
    @Test func aSignatureIsThatOfStandardWebhooks() throws {
        let key = try #require(WebhookSecret(Self.secret)).key
        let headers = WebhookSignature.headers(
            id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
            time: Date(timeIntervalSince1970: 1_614_265_330),
            body: Data(#"{"test": 2432232314}"#.utf8),
            keys: [key]
        )
        #expect(headers.map(\.name) == ["webhook-id", "webhook-timestamp", "webhook-signature"])
        #expect(headers.map(\.value)[1...] == ["1614265330", "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="])
    }

    @Test func aFileOfSecretsHasOnePerLine() throws {
        let file = try HookFile(
            parsing: #"{"hooks":{"site":{"url":"https://a.example/","secretFile":"/keys"}}}"#.utf8
        )
        let two = Data("\(Self.secret)\n\n  \(Self.secret)  \n".utf8)
        let settings = try HookSettings(file) { _ throws(Errno) in two }
        #expect(settings.names == ["site"])
        for text in ["", "\n", "secret\n", "\(Self.secret)\nwhsec_c2hvcnQ=\n"] {
            let error = #expect(throws: InvalidRequest.self) {
                try HookSettings(file) { _ throws(Errno) in Data(text.utf8) }
            }
            #expect(error?.path == "hooks.site.secretFile")
        }
        let missing = #expect(throws: InvalidRequest.self) {
            try HookSettings(file) { _ throws(Errno) in throw Errno(ENOENT) }
        }
        #expect(missing?.reason.contains("No such file") == true)
    }

    @Test func aURLThatIsNoneIsRefused() throws {
        let text = #"{"hooks":{"site":{"url":"https://a b:x/","secret":"\#(Self.secret)"}}}"#
        let file = try HookFile(parsing: text.utf8)
        let error = #expect(throws: InvalidRequest.self) { try HookSettings(file) { _ throws(Errno) in Data() } }
        #expect(error?.path == "hooks.site.url")
    }
}
