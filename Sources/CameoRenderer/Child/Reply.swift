internal import CameoRenderMessages
internal import Foundation

/// One complete message from a child.
enum Reply {
    case hello(HelloMessage)
    case refusal(RefusalMessage)
    case picture(PictureMessage, [Data])
}
