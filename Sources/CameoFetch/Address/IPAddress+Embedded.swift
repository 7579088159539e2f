extension IPAddress {
    /// The IPv4 addresses embedded in this IPv6 address, to which a network on the path may deliver. An address guard that
    /// ignored them would let `::ffff:127.0.0.1` through.
    package var embedded: [IPAddress] {
        guard case .v6(let bits) = self else { return [] }
        var addresses: [IPAddress] = []
        func add(_ bits: UInt128) { addresses.append(.v4(UInt32(truncatingIfNeeded: bits))) }

        switch bits >> 96 {
        case 0x0064_FF9B where (bits << 32) >> 64 == 0: add(bits)  // NAT64, RFC 6052: 64:ff9b::/96
        case 0x2001_0000:  // Teredo, RFC 4380: the server, and the client with its bits inverted
            add(bits >> 64)
            add(~bits)
        default: break
        }
        switch bits >> 32 {
        case 0 where bits > 1: add(bits)  // compatible, RFC 4291 2.5.5.1: ::a.b.c.d; :: and ::1 are none
        case 0xFFFF: add(bits)  // mapped, RFC 4291 2.5.5.2: ::ffff:a.b.c.d
        case 0xFFFF_0000: add(bits)  // translated, RFC 2765: ::ffff:0:a.b.c.d
        default: break
        }
        if bits >> 112 == 0x2002 { add(bits >> 80) }  // 6to4, RFC 3056
        switch UInt32(truncatingIfNeeded: bits >> 32) {  // ISATAP, RFC 5214 6.1: the interface id, below any prefix
        case 0x0000_5EFE, 0x0200_5EFE: add(bits)
        default: break
        }
        return addresses
    }
}
