import CameoModel
import TestSupport

/// The proof table, a line a case.
enum MatrixCases {
    static let all = jpeg + png + gif + webp + tiff + heif + drawings

    static let blue = Color(red: 16, green: 32, blue: 160, alpha: 255)

    static func scene(
        _ transparency: Scene.Transparency = .none,
        _ depth: Scene.Depth = .eight,
        _ space: SceneSpace = .srgb,
        frames: Int = 1
    ) -> Scene {
        var scene = Scene()
        (scene.transparency, scene.depth, scene.space, scene.frames) = (transparency, depth, space, frames)
        return scene
    }

    /// White on transparent black.
    static func disc(
        _ transparency: Scene.Transparency = .soft,
        _ depth: Scene.Depth = .eight,
        _ space: SceneSpace = .srgb
    ) -> Scene {
        var scene = scene(transparency, depth, space)
        scene.subject = .disc
        return scene
    }
}
