import CameoFetch
import Glibc
import Testing

@Suite(.timeLimit(.minutes(10)))
struct AddressGuardTests {
    private static let refused = [
        "0.0.0.0", "0.1.2.3", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255", "127.0.0.1",
        "127.255.255.254", "168.63.129.16", "::ffff:168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255",
        "192.0.0.8", "192.0.2.1",
        "192.88.99.1", "192.168.0.1", "192.168.255.255", "198.18.0.1", "198.19.255.255", "198.51.100.7",
        "203.0.113.9", "224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255",
        "::", "::1", "fc00::1", "fd12:3456::1", "fe80::1", "febf::1", "fec0::1", "ff02::1", "2001:db8::1",
        "100::1", "2001:2::1", "2001:10::1", "3fff::1",
        // IPv4 inside IPv6
        "::ffff:127.0.0.1", "::ffff:10.1.2.3", "::ffff:169.254.169.254", "::ffff:0:127.0.0.1", "::127.0.0.1",
        "::10.0.0.1", "2002:7f00:1::", "2002:c0a8:101::1", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1",
        "64:ff9b:1::7f00:1", "64:ff9b:1::808:808",
        "2001:0:7f00:1::f7f7:f7f7",  // Teredo, its server
        "2001:0:808:808::80ff:fffe",  // Teredo, its client
        "2606:4700::5efe:127.0.0.1", "2606:4700::200:5efe:192.168.1.1",  // ISATAP
    ]

    private static let allowed = [
        "1.1.1.1", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255",
        "128.0.0.1", "168.63.129.15", "168.63.129.17", "169.253.255.255", "172.15.255.255", "172.32.0.0", "192.0.1.1",
        "192.167.255.255",
        "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2606:4700::1111", "2a00:1450::1",
        "fbff::1", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8", "2002:808:808::1",
        "2001:0:808:808::f7f7:f7f7", "2606:4700::5efe:8.8.8.8",
    ]

    @Test(arguments: refused)
    func privateAndReservedAddressesAreRefused(text: String) throws {
        let address = try #require(IPAddress(text))
        guard case .refused(address, .some) = AddressGuard(exempt: []).judge(address) else {
            Issue.record("\(text) passed")
            return
        }
    }

    @Test(arguments: allowed)
    func publicAddressesPass(text: String) throws {
        #expect(AddressGuard(exempt: []).judge(try #require(IPAddress(text))) == .allowed)
    }

    @Test(arguments: [
        ("127.0.0.0/8", "127.0.0.1", true), ("127.0.0.0/8", "::ffff:127.0.0.1", true),
        ("127.0.0.0/8", "10.0.0.1", false), ("::1/128", "::1", true), ("::1/128", "127.0.0.1", false),
        ("::1/128", "::2", false), ("10.0.0.0/8", "64:ff9b::10.0.0.1", true), ("0.0.0.0/0", "10.0.0.1", true),
        ("0.0.0.0/0", "fe80::1", false), ("::/0", "::ffff:10.0.0.1", true), ("2002::/16", "2002:7f00:1::", true),
        ("192.168.1.7", "192.168.1.7", true), ("192.168.1.7", "192.168.1.8", false),
    ])
    func exemptNetworksPassAndNoOthers(network: String, text: String, passes: Bool) throws {
        let addressGuard = AddressGuard(exempt: [try #require(AddressRange(network))])
        #expect((addressGuard.judge(try #require(IPAddress(text))) == .allowed) == passes)
    }

    @Test
    func socketAddressesAreReadAsTheKernelWritesThem() throws {
        var v4 = sockaddr_in()
        v4.sin_family = sa_family_t(AF_INET)
        v4.sin_port = in_port_t(80).bigEndian
        inet_pton(AF_INET, "10.1.2.3", &v4.sin_addr)
        var v6 = sockaddr_in6()
        v6.sin6_family = sa_family_t(AF_INET6)
        inet_pton(AF_INET6, "2606:4700::1111", &v6.sin6_addr)
        let addressGuard = AddressGuard(exempt: [])
        let first = withUnsafeBytes(of: v4) { addressGuard.judge(socketAddress: $0) }
        let second = withUnsafeBytes(of: v6) { addressGuard.judge(socketAddress: $0) }
        #expect(first == .refused(address: IPAddress("10.1.2.3"), range: AddressRange("10.0.0.0/8")))
        #expect(second == .allowed)
    }

    @Test
    func whatIsNoInternetAddressIsRefused() {
        let addressGuard = AddressGuard(exempt: [AddressRange("0.0.0.0/0"), AddressRange("::/0")].compactMap(\.self))
        var unix = sockaddr_un()
        unix.sun_family = sa_family_t(AF_UNIX)
        let verdict = withUnsafeBytes(of: unix) { addressGuard.judge(socketAddress: $0) }
        #expect(verdict == .refused(address: nil, range: nil))
        #expect(addressGuard.judge(socketAddress: UnsafeRawBufferPointer(start: nil, count: 0)) == verdict)
        var short = sockaddr_in()
        short.sin_family = sa_family_t(AF_INET)
        let cut = withUnsafeBytes(of: short) {
            addressGuard.judge(socketAddress: UnsafeRawBufferPointer(rebasing: $0[..<6]))
        }
        #expect(cut == verdict)
    }

    @Test(arguments: [
        "", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "::/129", "10.0.0/8", "host/8", "10.0.0.0/8/8", "1 ",
    ])
    func rangesThatAreNoneAreRefused(text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test(arguments: [
        ("10.9.8.7/8", "10.0.0.0/8"), ("fc00::1/7", "fc00::/7"), ("1.2.3.4", "1.2.3.4/32"), ("::1", "::1/128"),
    ])
    func rangesAreWrittenInTheirShortestForm(text: String, canonical: String) {
        #expect(AddressRange(text)?.description == canonical)
    }
}
