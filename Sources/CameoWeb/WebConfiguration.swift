package import CameoModel

/// How a store is served.
package struct WebConfiguration: Sendable {
    /// What every path begins with: empty, or as `/cameo`.
    package var basePath = ""
    /// Who may do what; empty: everybody may read, and nobody may write.
    package var tokens = AccessTokens()
    /// The keys of `/make`: any of them verifies. Empty: there is no `/make`, unless it is ``allowsUnsigned``.
    package var signingKeys: [SigningKey] = []
    /// Whether `/make` answers URLs that nobody has signed.
    package var allowsUnsigned = false
    /// What `/make` knows by name.
    package var presets = PresetFile([])
    /// For how long a job may wait before the store counts as not ready; nil: for any time.
    package var maximumLag: Duration?
    /// How long a thumbnail is fresh in a browser or a proxy.
    package var thumbnailAge = Duration.seconds(60)
    /// Bytes of a picture that is handed over.
    package var maximumUpload = 104_857_600
    /// How long a request's body may take: 100 MiB at 3 Mbit/s.
    package var bodyPatience = Duration.seconds(300)

    package init() {}
}
