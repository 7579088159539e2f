import CameoModel
import CameoStore
import Testing

extension ConformanceCase {
    /// Jobs of workers that are gone.
    static let rescues: [ConformanceCase] = [
        ConformanceCase("a worker does not rescue its own jobs") { fixture in
            try await fixture.enqueue()
            try await fixture.register("me")
            #expect(try await fixture.store.claim(limit: 1, for: "me").count == 1)
            fixture.clock.advance(seconds: 3_600)
            #expect(try await fixture.store.rescueExpired(except: "me").rescued == 0)
            try await fixture.store.deregister("me")
        },
        ConformanceCase("jobs of a worker without a row are rescued") { fixture in
            try await fixture.enqueue()
            #expect(try await fixture.store.claim(limit: 1, for: "nobody").count == 1)
            #expect(try await fixture.store.rescueExpired(except: "me").rescued == 1)
            #expect(try await fixture.store.job(1).state == .available)
        },
    ]
}
