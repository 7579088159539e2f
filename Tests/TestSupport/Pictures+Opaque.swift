extension Pictures {
    /// 240 × 160, plain, with an alpha band that is 255 everywhere.
    package static func opaqueAlpha() async throws -> String {
        try await file("opaque.png") { path in
            let plain = try await plain(240, 160)
            try await vips("bandjoin_const", plain, "\(path).v", "255")
            try await vips("pngsave", "\(path).v", path)
        }
    }
}
