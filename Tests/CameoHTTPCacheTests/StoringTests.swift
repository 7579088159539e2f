import CameoHTTPCache
import Testing

@Suite("RFC 9111, sections 3 and 3.5: what may be stored", .timeLimit(.minutes(10)))
struct StoringTests {
    @Test(arguments: [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501])
    func theseStatusesMayBeStoredWithoutAWord(status: Int) {
        #expect(shared.storing(answer(status: status), of: plain) == .allowed)
    }

    @Test(arguments: [201, 202, 205, 302, 303, 307, 400, 401, 403, 429, 500, 502, 503, 504, 599])
    func othersOnlyWithALifetimeOrPublic(status: Int) {
        #expect(shared.storing(answer(status: status), of: plain) == .nothingAllowsIt)
        for line in ["Cache-Control: max-age=1", "Cache-Control: s-maxage=1", "Cache-Control: public", "Expires: 0"] {
            #expect(shared.storing(answer(line, status: status), of: plain) == .allowed)
        }
        #expect(oneTenant.storing(answer("Cache-Control: private", status: status), of: plain) == .allowed)
        #expect(
            oneTenant.storing(answer("Cache-Control: s-maxage=1", status: status), of: plain)
                == .nothingAllowsIt
        )
    }

    @Test(arguments: [206, 304, 100, 103, 600, 0, -1])
    func theseStatusesNever(status: Int) {
        let generous = answer("Cache-Control: public, max-age=60", status: status)
        #expect(shared.storing(generous, of: plain) == .forbidden)
    }

    @Test(
        arguments: [
            "no-store", "NO-STORE", "max-age=60, no-store", "max-age=60,no-store", " , ,no-store,", "no-store=1",
            #"no-store="x""#, #"private="a, b", no-store"#, #"x="a\"b", no-store"#, #"x="never closed, no-store"#,
            #"x="\", no-store"#, "no-store ;x, no-store", "x,\u{301}y, no-store", "no-store\t",
        ]
    )
    func noStoreIsFoundWhereverItStands(value: String) {
        #expect(oneTenant.storing(answer("Cache-Control: \(value)"), of: plain) == .forbidden)
    }

    @Test(arguments: ["no-storeage", "x=no-store", #"x="a, no-store, b""#, "no store", "", ",,,", "=no-store"])
    func whatIsNotNoStoreIsNot(value: String) {
        #expect(oneTenant.storing(answer("Cache-Control: \(value)"), of: plain) == .allowed)
    }

    @Test func everyLineCountsAndABrokenOneHidesNothing() {
        let lines = answer("Cache-Control: x=\"open", "cache-control: no-store", "Cache-Control: \"")
        #expect(shared.storing(lines, of: plain) == .forbidden)
    }

    @Test func theRequestMayForbidIt() {
        let request = fields(["Cache-Control: no-store"])
        #expect(shared.storing(answer("Cache-Control: max-age=60"), of: request) == .forbidden)
    }

    @Test(arguments: ["private", #"private="Set-Cookie""#, "private, public", "max-age=60, Private"])
    func privateIsForOneTenant(value: String) {
        #expect(shared.storing(answer("Cache-Control: \(value)"), of: plain) == .forbidden)
        #expect(oneTenant.storing(answer("Cache-Control: \(value)"), of: plain) == .allowed)
    }

    @Test(
        "Section 3.5",
        arguments: [
            ("public", true), ("s-maxage=60", true), ("must-revalidate", true), ("max-age=60", false),
            ("public=1", false), ("proxy-revalidate", false),
        ]
    )
    func anAuthorizedAnswerMustBeOpenedToASharedCache(value: String, isOpen: Bool) {
        let request = fields(["authorization: Basic YTpi"])
        let response = answer("Cache-Control: \(value)")
        #expect(shared.storing(response, of: request) == (isOpen ? .allowed : .forbidden))
        #expect(oneTenant.storing(response, of: request) == .allowed)
    }

    @Test("Section 5.2.2.3", arguments: [(200, true), (404, true), (299, false), (418, false), (599, false)])
    func mustUnderstandOverrulesNoStoreForAStatusThatIsKnown(status: Int, isKnown: Bool) {
        let response = answer("Cache-Control: max-age=60, no-store, must-understand", status: status)
        #expect(shared.storing(response, of: plain) == (isKnown ? .allowed : .forbidden))
        let unsure = answer("Cache-Control: no-store, must-understand=x")
        #expect(shared.storing(unsure, of: plain) == .forbidden)
    }

    @Test func anAnswerThatNoRequestCanMatchIsNotKept() {
        #expect(shared.storing(answer("Vary: Accept, *"), of: plain) == .forbidden)
        #expect(shared.storing(answer("Vary: Accept"), of: plain) == .allowed)
    }

    @Test(arguments: [(302, true), (303, true), (307, true), (401, false), (500, false), (503, false)])
    func theOperatorsLifetimeLetsRedirectsBeStoredButNoErrors(status: Int, isStored: Bool) {
        let policy = CachePolicy(audience: .shared, defaultLifetime: .seconds(60))
        #expect(policy.storing(answer(status: status), of: plain) == (isStored ? .allowed : .nothingAllowsIt))
    }
}
