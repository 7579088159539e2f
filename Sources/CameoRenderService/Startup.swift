internal import CameoChild
internal import CameoImaging
internal import CameoModel
internal import CameoRenderMessages

/// What a renderer loads before it is locked down.
enum Startup {
    /// The folders that stay readable: fonts and fontconfig's data, because drawings contain text.
    private static let fontFolders = [
        "/usr/share/fonts", "/usr/local/share/fonts", "/etc/fonts", "/usr/share/fontconfig", "/var/cache/fontconfig",
    ]

    /// Loads libvips and its modules; only the calling thread remains afterwards.
    static func load(_ arguments: RendererArguments) -> ChildNeeds {
        guard VipsLibrary.start(allowing: arguments.allowedFormats) else {
            Refusal.end("cameo-renderer cannot initialise libvips")
        }
        for format in arguments.allowedFormats where !VipsLibrary.decodes(format) {
            Refusal.end("cameo-renderer cannot decode \(format.name): this libvips has no loader for it")
        }
        return ChildNeeds(readableFolders: fontFolders, generatesCode: generatesCode)
    }

    /// Whether libvips compiles its vector loops at run time: up to 8.14 with ORC; from 8.15 on it uses Highway.
    private static var generatesCode: Bool {
        VipsLibrary.version.split(separator: ".").compactMap { Int($0) }.lexicographicallyPrecedes([8, 15])
    }
}
