import CommandSupport
import Testing

@Suite(.timeLimit(.minutes(10)))
struct CameoVariablesTests {
    private func unknown(_ names: String..., value: String = "1") -> [String] {
        let environment = Dictionary(uniqueKeysWithValues: names.map { ($0, value) })
        return CameoVariables.unknown(in: environment, options: ["CAMEO_GRACE", "CAMEO_FETCH_CONCURRENCY"])
    }

    @Test(arguments: ["CAMEO_FETCH_CONCURENCY", "CAMEO_STOR", "CAMEO_", "CAMEO_HELP", "CAMEO_grace"])
    func aVariableThatNothingKnowsIsNamed(name: String) {
        #expect(unknown(name) == [name])
    }

    @Test(arguments: [
        "CAMEO_STORE", "CAMEO_PRESETS", "CAMEO_GRACE", "CAMEO_TEST_KILL_POINT", "CAMEO_STRICT", "CAMEO_FAULTS",
        "CAMEOS", "PATH", "MY_CAMEO_STORE",
        "CAMEO_SERVICE_HOST", "CAMEO_WEB_SERVICE_PORT", "CAMEO_SERVICE_PORT_HTTP", "CAMEO_PORT", "CAMEO_PORT_80_TCP",
        "CAMEO_PORT_80_TCP_ADDR",
    ])
    func whatIsKnownOrNotCameosSaysNothing(name: String) {
        #expect(unknown(name).isEmpty)
    }

    /// An empty value, by which service managers leave a variable unset.
    @Test func anEmptyVariableIsNone() {
        #expect(unknown("CAMEO_NONSENSE", value: "").isEmpty)
    }

    @Test func eachIsNamedOnceAndInOrder() {
        #expect(unknown("CAMEO_B_B", "CAMEO_A_A", "CAMEO_GRACE") == ["CAMEO_A_A", "CAMEO_B_B"])
    }
}
