/// Numbers in the base 83 of BlurHash.
enum Base83 {
    private static let alphabet = Array(
        "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz#$%*+,-.:;=?@[]^_{|}~"
    )

    /// The number in base 83, most significant digit first.
    static func text(_ number: Int, digits: Int) -> String {
        var (rest, characters) = (number, [Character]())
        for _ in 0..<digits {
            characters.append(alphabet[rest % 83])
            rest /= 83
        }
        return String(characters.reversed())
    }
}
