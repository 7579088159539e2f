internal import CameoModel

extension Color {
    var isNeutral: Bool { red == green && green == blue }

    /// The components as libvips takes them, without alpha: one for grey pictures (whose backgrounds must be neutral),
    /// else three.
    func numbers(bands: Int) -> [Double] { bands < 3 ? [Double(red)] : [Double(red), Double(green), Double(blue)] }
}
