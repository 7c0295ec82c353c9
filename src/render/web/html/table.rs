//! The IDL attributes that reflect content attributes, by interface (HTML, "IDL" boxes of each element; WAI-ARIA §10).

use super::reflect::{Row, Type, Words};

use Type::{
    Clamped, Element, Elements, Flag, Long, LongNotNegative, Positive, PositiveDouble, PositiveOr, Text, TextNullEmpty,
    TextOrNull, Unsigned, Url, UrlOrDocument,
};

const CORS: Words = Words {
    known: &["anonymous", "use-credentials"],
    aliases: &[("", "anonymous")],
    missing: None,
    invalid: Some("anonymous"),
    nullable: true,
};

const REFERRER: Words = Words::of(&[
    "",
    "no-referrer",
    "no-referrer-when-downgrade",
    "same-origin",
    "origin",
    "strict-origin",
    "origin-when-cross-origin",
    "strict-origin-when-cross-origin",
    "unsafe-url",
]);

const ENCTYPES: &[&str] = &["application/x-www-form-urlencoded", "multipart/form-data", "text/plain"];
pub(super) const ENCTYPE: Words = Words::or(ENCTYPES, "application/x-www-form-urlencoded");
pub(super) const FORM_ENCTYPE: Words = Words { missing: Some(""), ..ENCTYPE };
pub(super) const METHOD: Words = Words::or(&["get", "post", "dialog"], "get");
pub(super) const FORM_METHOD: Words = Words { missing: Some(""), ..METHOD };
pub(super) const BUTTON_TYPE: Words = Words::or(&["submit", "reset", "button"], "submit");

pub(super) const INPUT_TYPE: Words = Words::or(
    &[
        "hidden",
        "text",
        "search",
        "tel",
        "url",
        "email",
        "password",
        "date",
        "month",
        "week",
        "time",
        "datetime-local",
        "number",
        "range",
        "color",
        "checkbox",
        "radio",
        "file",
        "submit",
        "image",
        "reset",
        "button",
    ],
    "text",
);

pub(super) const DIRECTIONS: Words = Words::of(&["ltr", "rtl", "auto"]);

const PRELOAD: Words = Words { aliases: &[("", "auto")], ..Words::or(&["none", "metadata", "auto"], "metadata") };

const TRACK_KIND: Words = Words {
    missing: Some("subtitles"),
    invalid: Some("metadata"),
    ..Words::of(&["subtitles", "captions", "descriptions", "chapters", "metadata"])
};

const LINK_AS: Words = Words::of(&[
    "fetch",
    "audio",
    "document",
    "embed",
    "font",
    "image",
    "manifest",
    "object",
    "report",
    "script",
    "sharedworker",
    "style",
    "track",
    "video",
    "worker",
    "xslt",
]);

const POPOVER: Words = Words {
    aliases: &[("", "auto")],
    missing: None,
    invalid: Some("manual"),
    nullable: true,
    ..Words::of(&["auto", "manual", "hint"])
};

const LOADING: Words = Words::or(&["lazy", "eager"], "eager");
const PRIORITY: Words = Words::or(&["high", "low", "auto"], "auto");

const ALIGN: Row = ("align", "align", Text);
const NAME: Row = ("name", "name", Text);
const CITE: Row = ("cite", "cite", Url);
const COMPACT: Row = ("compact", "compact", Flag);
const DISABLED: Row = ("disabled", "disabled", Flag);
const HEIGHT: Row = ("height", "height", Text);
const WIDTH: Row = ("width", "width", Text);
const SRC: Row = ("src", "src", Url);
const KIND: Row = ("type", "type", Text);
const CROSS_ORIGIN: Row = ("crossOrigin", "crossorigin", Type::Words(&CORS));
const REFERRER_POLICY: Row = ("referrerPolicy", "referrerpolicy", Type::Words(&REFERRER));
const BG_COLOR: Row = ("bgColor", "bgcolor", TextNullEmpty);
const H_SPACE: Row = ("hspace", "hspace", Unsigned(0));
const V_SPACE: Row = ("vspace", "vspace", Unsigned(0));
const LONG_DESC: Row = ("longDesc", "longdesc", Url);
const USE_MAP: Row = ("useMap", "usemap", Text);
const CH: Row = ("ch", "char", Text);
const CH_OFF: Row = ("chOff", "charoff", Text);
const V_ALIGN: Row = ("vAlign", "valign", Text);
const REQUIRED: Row = ("required", "required", Flag);
const READ_ONLY: Row = ("readOnly", "readonly", Flag);
const PLACEHOLDER: Row = ("placeholder", "placeholder", Text);
const MAX_LENGTH: Row = ("maxLength", "maxlength", LongNotNegative);
const MIN_LENGTH: Row = ("minLength", "minlength", LongNotNegative);
const DIR_NAME: Row = ("dirName", "dirname", Text);
const MARGIN_HEIGHT: Row = ("marginHeight", "marginheight", TextNullEmpty);
const MARGIN_WIDTH: Row = ("marginWidth", "marginwidth", TextNullEmpty);
const FORM_ACTION: Row = ("formAction", "formaction", UrlOrDocument);
const FORM_ENC: Row = ("formEnctype", "formenctype", Type::Words(&FORM_ENCTYPE));
const FORM_METHODS: Row = ("formMethod", "formmethod", Type::Words(&FORM_METHOD));
const FORM_NO_VALIDATE: Row = ("formNoValidate", "formnovalidate", Flag);
const FORM_TARGET: Row = ("formTarget", "formtarget", Text);
const AUTOCOMPLETE: Row = ("autocomplete", "autocomplete", Text);
const TARGET: Row = ("target", "target", Text);
const REL: Row = ("rel", "rel", Text);
const LOAD: Row = ("loading", "loading", Type::Words(&LOADING));
const PRIORITIES: Row = ("fetchPriority", "fetchpriority", Type::Words(&PRIORITY));
const POPOVER_TARGET: Row = ("popoverTargetElement", "popovertarget", Element);
const POPOVER_ACTION: Row =
    ("popoverTargetAction", "popovertargetaction", Type::Words(&Words::or(&["toggle", "show", "hide"], "toggle")));

/// Interfaces with their rows; an interface may have several entries.
pub const TABLE: &[(&str, &[Row])] = &[
    ("Element", ARIA),
    (
        "HTMLElement",
        &[
            ("title", "title", Text),
            ("lang", "lang", Text),
            ("dir", "dir", Type::Words(&DIRECTIONS)),
            ("accessKey", "accesskey", Text),
            ("inert", "inert", Flag),
            (
                "enterKeyHint",
                "enterkeyhint",
                Type::Words(&Words::of(&["enter", "done", "go", "next", "previous", "search", "send"])),
            ),
            (
                "inputMode",
                "inputmode",
                Type::Words(&Words::of(&["none", "text", "tel", "url", "email", "numeric", "decimal", "search"])),
            ),
            ("popover", "popover", Type::Words(&POPOVER)),
        ],
    ),
    (
        "HTMLAnchorElement",
        &[
            TARGET,
            ("download", "download", Text),
            ("ping", "ping", Text),
            REL,
            ("hreflang", "hreflang", Text),
            KIND,
            REFERRER_POLICY,
            ("coords", "coords", Text),
            ("charset", "charset", Text),
            NAME,
            ("rev", "rev", Text),
            ("shape", "shape", Text),
        ],
    ),
    (
        "HTMLAreaElement",
        &[
            ("alt", "alt", Text),
            ("coords", "coords", Text),
            ("shape", "shape", Text),
            TARGET,
            ("download", "download", Text),
            ("ping", "ping", Text),
            REL,
            REFERRER_POLICY,
            ("noHref", "nohref", Flag),
        ],
    ),
    // It has no rows of its own, but needs the parent's.
    ("HTMLAudioElement", &[]),
    ("HTMLBaseElement", &[TARGET]),
    (
        "HTMLBodyElement",
        &[
            ("text", "text", TextNullEmpty),
            ("link", "link", TextNullEmpty),
            ("vLink", "vlink", TextNullEmpty),
            ("aLink", "alink", TextNullEmpty),
            BG_COLOR,
            ("background", "background", Text),
        ],
    ),
    ("HTMLBRElement", &[("clear", "clear", Text)]),
    (
        "HTMLButtonElement",
        &[
            DISABLED,
            FORM_ACTION,
            FORM_ENC,
            FORM_METHODS,
            FORM_NO_VALIDATE,
            FORM_TARGET,
            NAME,
            ("type", "type", Type::Words(&BUTTON_TYPE)),
            ("value", "value", Text),
            POPOVER_TARGET,
            POPOVER_ACTION,
        ],
    ),
    ("HTMLCanvasElement", &[("width", "width", Unsigned(300)), ("height", "height", Unsigned(150))]),
    ("HTMLDataElement", &[("value", "value", Text)]),
    ("HTMLDetailsElement", &[("open", "open", Flag), NAME]),
    ("HTMLDialogElement", &[("open", "open", Flag)]),
    ("HTMLDirectoryElement", &[COMPACT]),
    ("HTMLDivElement", &[ALIGN]),
    ("HTMLDListElement", &[COMPACT]),
    ("HTMLEmbedElement", &[SRC, KIND, WIDTH, HEIGHT, ALIGN, NAME]),
    ("HTMLFieldSetElement", &[DISABLED, NAME]),
    ("HTMLFontElement", &[("color", "color", TextNullEmpty), ("face", "face", Text), ("size", "size", Text)]),
    (
        "HTMLFormElement",
        &[
            ("acceptCharset", "accept-charset", Text),
            ("action", "action", UrlOrDocument),
            ("autocomplete", "autocomplete", Type::Words(&Words::or(&["on", "off"], "on"))),
            ("enctype", "enctype", Type::Words(&ENCTYPE)),
            ("encoding", "enctype", Type::Words(&ENCTYPE)),
            ("method", "method", Type::Words(&METHOD)),
            NAME,
            ("noValidate", "novalidate", Flag),
            TARGET,
            REL,
        ],
    ),
    (
        "HTMLFrameElement",
        &[
            NAME,
            ("scrolling", "scrolling", Text),
            SRC,
            ("frameBorder", "frameborder", Text),
            LONG_DESC,
            ("noResize", "noresize", Flag),
            MARGIN_HEIGHT,
            MARGIN_WIDTH,
        ],
    ),
    ("HTMLFrameSetElement", &[("cols", "cols", Text), ("rows", "rows", Text)]),
    ("HTMLHeadingElement", &[ALIGN]),
    ("HTMLHRElement", &[ALIGN, ("color", "color", Text), ("noShade", "noshade", Flag), ("size", "size", Text), WIDTH]),
    ("HTMLHtmlElement", &[("version", "version", Text)]),
    (
        "HTMLIFrameElement",
        &[
            SRC,
            ("srcdoc", "srcdoc", Text),
            NAME,
            ("allow", "allow", Text),
            ("allowFullscreen", "allowfullscreen", Flag),
            WIDTH,
            HEIGHT,
            REFERRER_POLICY,
            LOAD,
            ALIGN,
            ("scrolling", "scrolling", Text),
            ("frameBorder", "frameborder", Text),
            LONG_DESC,
            MARGIN_HEIGHT,
            MARGIN_WIDTH,
        ],
    ),
    (
        "HTMLImageElement",
        &[
            ("alt", "alt", Text),
            SRC,
            ("srcset", "srcset", Text),
            ("sizes", "sizes", Text),
            CROSS_ORIGIN,
            USE_MAP,
            ("isMap", "ismap", Flag),
            ("width", "width", Unsigned(0)),
            ("height", "height", Unsigned(0)),
            REFERRER_POLICY,
            ("decoding", "decoding", Type::Words(&Words::or(&["async", "sync", "auto"], "auto"))),
            LOAD,
            PRIORITIES,
            NAME,
            ("lowsrc", "lowsrc", Url),
            ALIGN,
            H_SPACE,
            V_SPACE,
            LONG_DESC,
            ("border", "border", TextNullEmpty),
        ],
    ),
    (
        "HTMLInputElement",
        &[
            ("accept", "accept", Text),
            AUTOCOMPLETE,
            ("alt", "alt", Text),
            ("defaultChecked", "checked", Flag),
            DIR_NAME,
            DISABLED,
            FORM_ACTION,
            FORM_ENC,
            ("formMethod", "formmethod", Type::Words(&FORM_METHOD)),
            FORM_NO_VALIDATE,
            FORM_TARGET,
            ("height", "height", Unsigned(0)),
            ("max", "max", Text),
            MAX_LENGTH,
            ("min", "min", Text),
            MIN_LENGTH,
            ("multiple", "multiple", Flag),
            NAME,
            ("pattern", "pattern", Text),
            PLACEHOLDER,
            READ_ONLY,
            REQUIRED,
            ("size", "size", Positive(20)),
            SRC,
            ("step", "step", Text),
            ("type", "type", Type::Words(&INPUT_TYPE)),
            ("width", "width", Unsigned(0)),
            ("defaultValue", "value", Text),
            ALIGN,
            USE_MAP,
            POPOVER_TARGET,
            POPOVER_ACTION,
        ],
    ),
    ("HTMLLabelElement", &[("htmlFor", "for", Text)]),
    ("HTMLLegendElement", &[ALIGN]),
    ("HTMLLIElement", &[("value", "value", Long(0)), KIND]),
    (
        "HTMLLinkElement",
        &[
            ("href", "href", Url),
            CROSS_ORIGIN,
            REL,
            ("as", "as", Type::Words(&LINK_AS)),
            ("media", "media", Text),
            ("integrity", "integrity", Text),
            ("hreflang", "hreflang", Text),
            KIND,
            REFERRER_POLICY,
            PRIORITIES,
            ("imageSrcset", "imagesrcset", Text),
            ("imageSizes", "imagesizes", Text),
            ("charset", "charset", Text),
            ("rev", "rev", Text),
            TARGET,
        ],
    ),
    ("HTMLMapElement", &[NAME]),
    (
        "HTMLMarqueeElement",
        &[
            ("behavior", "behavior", Type::Words(&Words::or(&["scroll", "slide", "alternate"], "scroll"))),
            ("bgColor", "bgcolor", Text),
            ("direction", "direction", Type::Words(&Words::or(&["up", "right", "down", "left"], "left"))),
            HEIGHT,
            H_SPACE,
            ("scrollAmount", "scrollamount", Unsigned(6)),
            ("scrollDelay", "scrolldelay", Unsigned(85)),
            ("trueSpeed", "truespeed", Flag),
            V_SPACE,
            WIDTH,
        ],
    ),
    (
        "HTMLMediaElement",
        &[
            SRC,
            CROSS_ORIGIN,
            ("preload", "preload", Type::Words(&PRELOAD)),
            ("autoplay", "autoplay", Flag),
            ("loop", "loop", Flag),
            ("controls", "controls", Flag),
            ("defaultMuted", "muted", Flag),
        ],
    ),
    (
        "HTMLVideoElement",
        &[
            ("width", "width", Unsigned(0)),
            ("height", "height", Unsigned(0)),
            ("poster", "poster", Url),
            ("playsInline", "playsinline", Flag),
        ],
    ),
    ("HTMLMenuElement", &[COMPACT]),
    (
        "HTMLMetaElement",
        &[
            NAME,
            ("httpEquiv", "http-equiv", Text),
            ("content", "content", Text),
            ("media", "media", Text),
            ("scheme", "scheme", Text),
        ],
    ),
    ("HTMLModElement", &[CITE, ("dateTime", "datetime", Text)]),
    (
        "HTMLObjectElement",
        &[
            ("data", "data", Url),
            KIND,
            NAME,
            USE_MAP,
            WIDTH,
            HEIGHT,
            ALIGN,
            ("archive", "archive", Text),
            ("code", "code", Text),
            ("declare", "declare", Flag),
            H_SPACE,
            ("standby", "standby", Text),
            V_SPACE,
            ("codeBase", "codebase", Url),
            ("codeType", "codetype", Text),
            ("border", "border", TextNullEmpty),
        ],
    ),
    ("HTMLOListElement", &[("reversed", "reversed", Flag), ("start", "start", Long(1)), KIND, COMPACT]),
    ("HTMLOptGroupElement", &[DISABLED, ("label", "label", Text)]),
    ("HTMLOptionElement", &[DISABLED, ("defaultSelected", "selected", Flag)]),
    ("HTMLOutputElement", &[NAME]),
    ("HTMLParagraphElement", &[ALIGN]),
    ("HTMLParamElement", &[NAME, ("value", "value", Text), KIND, ("valueType", "valuetype", Text)]),
    ("HTMLPreElement", &[("width", "width", Long(0))]),
    ("HTMLProgressElement", &[("max", "max", PositiveDouble(1.0))]),
    ("HTMLQuoteElement", &[CITE]),
    (
        "HTMLScriptElement",
        &[
            SRC,
            KIND,
            ("noModule", "nomodule", Flag),
            ("charset", "charset", Text),
            ("defer", "defer", Flag),
            CROSS_ORIGIN,
            ("integrity", "integrity", Text),
            REFERRER_POLICY,
            PRIORITIES,
            ("event", "event", Text),
            ("htmlFor", "for", Text),
        ],
    ),
    (
        "HTMLSelectElement",
        &[AUTOCOMPLETE, DISABLED, ("multiple", "multiple", Flag), NAME, REQUIRED, ("size", "size", Unsigned(0))],
    ),
    ("HTMLSlotElement", &[NAME]),
    (
        "HTMLSourceElement",
        &[
            SRC,
            KIND,
            ("srcset", "srcset", Text),
            ("sizes", "sizes", Text),
            ("media", "media", Text),
            ("width", "width", Unsigned(0)),
            ("height", "height", Unsigned(0)),
        ],
    ),
    ("HTMLStyleElement", &[("media", "media", Text), KIND]),
    ("HTMLTableCaptionElement", &[ALIGN]),
    (
        "HTMLTableCellElement",
        &[
            ("colSpan", "colspan", Clamped(1, 1, 1000)),
            ("rowSpan", "rowspan", Clamped(1, 0, 65534)),
            ("headers", "headers", Text),
            ("scope", "scope", Type::Words(&Words::of(&["row", "col", "rowgroup", "colgroup"]))),
            ("abbr", "abbr", Text),
            ALIGN,
            ("axis", "axis", Text),
            HEIGHT,
            WIDTH,
            CH,
            CH_OFF,
            ("noWrap", "nowrap", Flag),
            V_ALIGN,
            BG_COLOR,
        ],
    ),
    ("HTMLTableColElement", &[("span", "span", Clamped(1, 1, 1000)), ALIGN, CH, CH_OFF, V_ALIGN, WIDTH]),
    (
        "HTMLTableElement",
        &[
            ALIGN,
            ("border", "border", Text),
            ("frame", "frame", Text),
            ("rules", "rules", Text),
            ("summary", "summary", Text),
            WIDTH,
            BG_COLOR,
            ("cellPadding", "cellpadding", TextNullEmpty),
            ("cellSpacing", "cellspacing", TextNullEmpty),
        ],
    ),
    ("HTMLTableRowElement", &[ALIGN, CH, CH_OFF, V_ALIGN, BG_COLOR]),
    ("HTMLTableSectionElement", &[ALIGN, CH, CH_OFF, V_ALIGN]),
    (
        "HTMLTemplateElement",
        &[
            ("shadowRootMode", "shadowrootmode", Type::Words(&Words::of(&["open", "closed"]))),
            ("shadowRootDelegatesFocus", "shadowrootdelegatesfocus", Flag),
            ("shadowRootClonable", "shadowrootclonable", Flag),
            ("shadowRootSerializable", "shadowrootserializable", Flag),
        ],
    ),
    (
        "HTMLTextAreaElement",
        &[
            AUTOCOMPLETE,
            ("cols", "cols", PositiveOr(20)),
            DIR_NAME,
            DISABLED,
            MAX_LENGTH,
            MIN_LENGTH,
            NAME,
            PLACEHOLDER,
            READ_ONLY,
            REQUIRED,
            ("rows", "rows", PositiveOr(2)),
            ("wrap", "wrap", Text),
        ],
    ),
    ("HTMLTimeElement", &[("dateTime", "datetime", Text)]),
    (
        "HTMLTrackElement",
        &[
            ("kind", "kind", Type::Words(&TRACK_KIND)),
            SRC,
            ("srclang", "srclang", Text),
            ("label", "label", Text),
            ("default", "default", Flag),
        ],
    ),
    ("HTMLUListElement", &[COMPACT, KIND]),
];

/// ARIA attributes, on every element (WAI-ARIA §10.1).
pub const ARIA: &[Row] = &[
    ("role", "role", TextOrNull),
    ("ariaActiveDescendantElement", "aria-activedescendant", Element),
    ("ariaAtomic", "aria-atomic", TextOrNull),
    ("ariaAutoComplete", "aria-autocomplete", TextOrNull),
    ("ariaBrailleLabel", "aria-braillelabel", TextOrNull),
    ("ariaBrailleRoleDescription", "aria-brailleroledescription", TextOrNull),
    ("ariaBusy", "aria-busy", TextOrNull),
    ("ariaChecked", "aria-checked", TextOrNull),
    ("ariaColCount", "aria-colcount", TextOrNull),
    ("ariaColIndex", "aria-colindex", TextOrNull),
    ("ariaColIndexText", "aria-colindextext", TextOrNull),
    ("ariaColSpan", "aria-colspan", TextOrNull),
    ("ariaControlsElements", "aria-controls", Elements),
    ("ariaCurrent", "aria-current", TextOrNull),
    ("ariaDescribedByElements", "aria-describedby", Elements),
    ("ariaDescription", "aria-description", TextOrNull),
    ("ariaDetailsElements", "aria-details", Elements),
    ("ariaDisabled", "aria-disabled", TextOrNull),
    ("ariaErrorMessageElements", "aria-errormessage", Elements),
    ("ariaExpanded", "aria-expanded", TextOrNull),
    ("ariaFlowToElements", "aria-flowto", Elements),
    ("ariaHasPopup", "aria-haspopup", TextOrNull),
    ("ariaHidden", "aria-hidden", TextOrNull),
    ("ariaInvalid", "aria-invalid", TextOrNull),
    ("ariaKeyShortcuts", "aria-keyshortcuts", TextOrNull),
    ("ariaLabel", "aria-label", TextOrNull),
    ("ariaLabelledByElements", "aria-labelledby", Elements),
    ("ariaLevel", "aria-level", TextOrNull),
    ("ariaLive", "aria-live", TextOrNull),
    ("ariaModal", "aria-modal", TextOrNull),
    ("ariaMultiLine", "aria-multiline", TextOrNull),
    ("ariaMultiSelectable", "aria-multiselectable", TextOrNull),
    ("ariaOrientation", "aria-orientation", TextOrNull),
    ("ariaOwnsElements", "aria-owns", Elements),
    ("ariaPlaceholder", "aria-placeholder", TextOrNull),
    ("ariaPosInSet", "aria-posinset", TextOrNull),
    ("ariaPressed", "aria-pressed", TextOrNull),
    ("ariaReadOnly", "aria-readonly", TextOrNull),
    ("ariaRelevant", "aria-relevant", TextOrNull),
    ("ariaRequired", "aria-required", TextOrNull),
    ("ariaRoleDescription", "aria-roledescription", TextOrNull),
    ("ariaRowCount", "aria-rowcount", TextOrNull),
    ("ariaRowIndex", "aria-rowindex", TextOrNull),
    ("ariaRowIndexText", "aria-rowindextext", TextOrNull),
    ("ariaRowSpan", "aria-rowspan", TextOrNull),
    ("ariaSelected", "aria-selected", TextOrNull),
    ("ariaSetSize", "aria-setsize", TextOrNull),
    ("ariaSort", "aria-sort", TextOrNull),
    ("ariaValueMax", "aria-valuemax", TextOrNull),
    ("ariaValueMin", "aria-valuemin", TextOrNull),
    ("ariaValueNow", "aria-valuenow", TextOrNull),
    ("ariaValueText", "aria-valuetext", TextOrNull),
];
