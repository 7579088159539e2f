import CommandSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CameoVariablesTests {
    @Test(
        arguments: [
            ("CAMEO_FETCH_CONCURENCY", "CAMEO_FETCH_CONCURRENCY"), ("CAMEO_STROE", nil), ("CAMEO_STOR", "CAMEO_STORE"),
            ("CAMEO_ALLOWROOT", "CAMEO_ALLOW_ROOT"), ("CAMEO_GRACES", "CAMEO_GRACE"), ("CAMEO_WAIT", nil),
            ("CAMEO_", nil), ("CAMEO_HELP", nil), ("CAMEO_host_header", nil),
            ("CAMEO_JOB_TIME_OUT", "CAMEO_JOB_TIMEOUT"),
        ] as [(String, String?)]
    )
    func aVariableThatNothingKnowsIsNamedWithTheNearestOne(name: String, nearest: String?) {
        let reason = "the environment's \(name) has no effect: there is no such variable"
        #expect(
            CameoVariables.warnings(in: [name: "1"]) == [reason + (nearest.map { "; is \($0) meant?" } ?? "")]
        )
    }

    @Test(arguments: [
        "CAMEO_STORE", "CAMEO_PRESETS", "CAMEO_GRACE", "CAMEO_TEST_KILL_POINT", "CAMEO_STRICT", "CAMEO_FAULTS",
        "CAMEOS", "PATH", "MY_CAMEO_STORE",
        "CAMEO_SERVICE_HOST", "CAMEO_WEB_SERVICE_PORT", "CAMEO_SERVICE_PORT_HTTP", "CAMEO_PORT", "CAMEO_PORT_80_TCP",
        "CAMEO_PORT_80_TCP_ADDR",
    ])
    func whatIsKnownOrNotCameosSaysNothing(name: String) {
        #expect(CameoVariables.warnings(in: [name: "1"]).isEmpty)
    }

    /// As service managers write a variable that is not to be set.
    @Test func anEmptyVariableIsNone() {
        #expect(CameoVariables.warnings(in: ["CAMEO_NONSENSE": ""]).isEmpty)
    }

    @Test func eachIsNamedOnceAndInOrder() {
        let lines = CameoVariables.warnings(in: ["CAMEO_B_B": "1", "CAMEO_A_A": "1", "CAMEO_GRACE": "1"])
        #expect(lines.map { $0.split(separator: " ")[2] } == ["CAMEO_A_A", "CAMEO_B_B"])
    }
}
