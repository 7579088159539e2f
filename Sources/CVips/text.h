// Text, drawn by Pango with the fonts that fontconfig finds.
#pragma once
#include <fontconfig/fontconfig.h>

/// `markup`: Pango's. The result is sRGB with alpha, cropped to the ink. At 72 dots per inch a font's points are
/// pixels.
static inline int cameo_vips_text(VipsImage **out, const char *markup, const char *font) {
    return vips_text(out, markup, "font", font, "dpi", 72, "rgba", TRUE, NULL);
}

/// Whether any font has this character. libvips draws a box for a missing one, and for all if there is no font.
static inline int cameo_has_font_for(unsigned int character) {
    FcPattern *wanted = FcPatternCreate();
    FcCharSet *characters = FcCharSetCreate();
    FcObjectSet *nothing = FcObjectSetCreate();
    FcFontSet *found = NULL;
    if (wanted && characters && nothing && FcCharSetAddChar(characters, character) &&
        FcPatternAddCharSet(wanted, FC_CHARSET, characters))
        found = FcFontList(NULL, wanted, nothing);
    int has = found && found->nfont > 0;
    if (found) FcFontSetDestroy(found);
    if (nothing) FcObjectSetDestroy(nothing);
    if (characters) FcCharSetDestroy(characters);
    if (wanted) FcPatternDestroy(wanted);
    return has;
}
