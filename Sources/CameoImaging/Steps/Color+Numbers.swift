internal import CameoModel

extension Color {
    /// Whether it is a grey.
    var isNeutral: Bool { red == green && green == blue }

    /// As libvips takes colours, without alpha: one number for grey pictures (whose backgrounds must be neutral), or
    /// three.
    func numbers(bands: Int) -> [Double] { bands < 3 ? [Double(red)] : [Double(red), Double(green), Double(blue)] }
}
