"""What a human cannot see is not in the text, however it is written."""

import html

import pytest

from postroom.mail.page import read_page

_STYLES = """
display:none
display:none !important
DISPLAY : NONE
display:none;display:banana
display:none;display:block none
display:none;display:block !sure
display:none;;color:red
color:red;display:none
d\\69splay:none
display:n\\00006fne
\\64 isplay:none
display:/**/none/**/
/*x*/display:none
x{y:z} display:none
*display:block;display:none
--a:none;display:var(--a)
--a:none;--b:var(--a);display:VAR( --b )
display:var(--nowhere, none)
--A:none;--a:block;display:var(--A)
visibility:hidden
visibility:collapse
visibility:hidden;visibility:shown
content-visibility:hidden
opacity:0
opacity:.05
opacity:5%
opacity:0;opacity:1px
opacity:calc(1 - .95)
filter:opacity(0)
-webkit-filter:opacity(1%)
filter:opacity(0);filter:junk(1)
filter:blur(40px)
font-size:0
font-size:1px
font-size:3.9px
font-size:0.1em
font-size:.2rem
font-size:1%
font-size:0;font-size:14 px
font-size:calc(10px - 9px)
font-size:min(1px, 20px)
font-size:clamp(0px, 1px, 2px)
font-size:1
font:0/0 a
font:italic bold 1px/2 Arial
font:1px Arial, sans-serif
font:0/0 a;font:14px
font-size:0;font:14px
line-height:0;overflow:hidden
line-height:.05;overflow:hidden
width:0;overflow:hidden
width:1px;overflow-x:hidden
height:0;overflow:hidden
height:0%;overflow:clip
max-height:0;overflow:hidden
max-height:0px;overflow:auto
max-height:1px;height:300px;overflow:hidden
max-height:0;max-height:100;overflow:hidden
max-height:0;overflow-x:hidden;overflow-y:visible
max-width:0;overflow:hidden
block-size:0;overflow:hidden
max-height:calc(1px*0);overflow:scroll
position:absolute;left:-9999px
position:absolute;left:9999px
position:fixed;top:-600px
position:absolute;bottom:5000px
position:absolute;right:-100em
position:relative;left:-200vw
position:absolute;left:-9999px;left:oops
position:absolute;inset:-9999px 0 0 0
position:absolute;inset-inline-start:-9999px
position:absolute;left:calc(0px - 9999px)
left:-9999px
text-indent:-9999px
text-indent:-100em
text-indent:9999px
text-indent:-9999px;text-indent:0 banana
margin-left:-9999px
margin-top:-600px
margin:0 0 0 -4000px
margin-left:-9999px;margin:junk
clip:rect(0,0,0,0)
clip:rect(0 0 0 0)
clip:rect(1px,1px,1px,1px);position:absolute
clip:rect(0px, 200px, 1px, 0px)
clip-path:inset(50%)
clip-path:inset(100%)
clip-path:inset(0 100% 0 0)
clip-path:circle(0)
clip-path:circle(0 at 10px 10px)
clip-path:ellipse(0 40px)
clip-path:polygon(0 0, 0 0, 0 0)
clip-path:polygon(0 0, 50% 50%, 100% 100%)
-webkit-clip-path:circle(0px)
clip-path:circle(0);clip-path:banana
transform:scale(0)
transform:scale(0,1)
transform:scaleX(0)
transform:scaleY(.001)
transform:scale3d(0,0,0)
transform:matrix(0,0,0,0,0,0)
transform:translateX(-9999px)
transform:translate(0, -600px)
transform:translate3d(-2000px,0,0)
transform:translateY(-5000%)
transform:rotateX(90deg)
transform:scale(0);transform:scale(big)
-webkit-transform:scale(0)
scale:0
translate:-9999px
zoom:0
zoom:.01
zoom:1%
color:#fff
color:#FFFFFF
color:white
color:WHITE
color:#ffffffff
color:#fefefe
color:#fffe
color:rgb(255,255,255)
color:rgb(100% 100% 100%)
color:rgb(255 255 255 / 80%)
color:hsl(120, 100%, 100%)
color:hsl(0 0% 99%)
color:hwb(0 100% 0%)
color:transparent
color:rgba(0,0,0,0)
color:rgba(0,0,0,.05)
color:#0000
color:#00000005
color:oklch(1 0 0)
color:lab(100 0 0)
color:color(srgb 1 1 1)
color:color-mix(in srgb, white, white)
color:light-dark(white, black)
color:canvas
color:white;color:nocolour
color:#000;color:white
-webkit-text-fill-color:white
-webkit-text-fill-color:transparent
color:#123456;background:#123456
color:#123456;background-color:#133457
color:#111;background:#111;background:junk
background-color:black
background:black
color:#fff;background:linear-gradient(#fff,#fff)
color:#fff;background-image:xurl(a)
color:transparent;background:url(photo.png)
color:yellow;background:#ffffe0
"""
STYLES = [*_STYLES.strip().splitlines(), "'\n;display:none", "display:none;display:block\xa0", "display:\tnone\n"]


@pytest.mark.parametrize("style", STYLES)
def test_a_style_attribute_that_hides_takes_the_text_away(style: str) -> None:
    read = read_page(f"<p>seen</p><b style='{html.escape(style)}'>secret</b>")
    assert read.text == "seen"
    assert "secret" not in read.safe_html
    assert "hidden_text" in read.signals


@pytest.mark.parametrize("style", STYLES)
def test_the_same_in_a_sheet_takes_the_text_away(style: str) -> None:
    read = read_page(f"<style>b{{{style}}}</style><p>seen</p><b>secret</b>")
    assert read.text == "seen"
    assert "hidden_text" in read.signals


NEVER = (
    "title style script template noscript noembed noframes iframe object applet svg math select datalist textarea "
    "audio video canvas dialog map xmp progress meter"
)
SHEETS = [
    ".s{display:none}",
    "p.s{display:none}",
    "#i{display:none}",
    "[data-k]{display:none}",
    "[data-k=v]{display:none}",
    "[data-k='v']{display:none}",
    "[data-k^=v]{display:none}",
    "[data-k~=v]{display:none}",
    "*.s{display:none}",
    "div p.s{display:none}",
    "div>p.s{display:none}",
    "p+p{display:none}",
    "p~p{display:none}",
    "p:last-child{display:none}",
    "p:nth-child(2){display:none}",
    "p:nth-child(even){display:none}",
    "p:nth-last-child(1){display:none}",
    "p:not(.v){display:none}",
    ":is(.x,.s){display:none}",
    ":where(.s){display:none}",
    "div:has(.s) .s{display:none}",
    ".x,.s{display:none}",
    ".\\73{display:none}",
    ".s{d\\69splay:none}",
    "/* a */.s/* b */{/* c */display:none}",
    "<!-- .s{display:none} -->",
    ".s{content:'}';display:none}",
    ".x{background:url(a;b)}.s{display:none}",
    "@import url(x.css);.s{display:none}",
    "@charset 'utf-8';.s{display:none}",
    "@font-face{font-family:x;src:url(y)}.s{display:none}",
    "@media screen{.s{display:none}}",
    "@media all{.s{display:none}}",
    "@media only screen{.s{display:none}}",
    "@media (min-width:600px){.s{display:none}}",
    "@media screen and (min-width:37.5em){.s{display:none}}",
    "@media (width>=600px){.s{display:none}}",
    "@media (400px<=width<=2000px){.s{display:none}}",
    "@media not print{.s{display:none}}",
    "@media print,screen{.s{display:none}}",
    "@media (prefers-color-scheme:light){.s{display:none}}",
    "@media (unheard-of){.s{display:none}}",
    "@media (min-width:1px) or (color){.s{display:none}}",
    "@media{.s{display:none}}",
    "@MEDIA SCREEN{.s{display:none}}",
    "@supports (display:grid){.s{display:none}}",
    "@layer base{.s{display:none}}",
    "@layer a;@layer a{.s{display:none}}",
    "@layer a{#i.s{display:block}} .s{display:none}",
    "@container (width>1px){.s{display:none}}",
    "@media screen{@supports (a:b){.s{display:none}}}",
    "div{.s{display:none}}",
    "div{& .s{display:none}}",
    ".s{@media screen{display:none}}",
    ".s{display:none!important}#i{display:block}",
    "#i{display:none}.s{display:block}",
    ".s{display:block}.s{display:none}",
    ".s{display:none}.s:hover{display:block}",
    ".s{display:none}.s:bogus{display:block}",
    ".s{display:none}.s,.x:bogus(1){display:block}",
    ".s{display:none}@media print{.s{display:block}}",
    ".s{display:none}@media (max-width:600px){.s{display:block!important}}",
    ".s{display:none}@media (prefers-color-scheme:dark){.s{display:block}}",
    ".s{display:none}@media (unheard-of){.s{display:block}}",
    ".s{display:none}@supports not (a:b){.s{display:block}}",
    ".s{display:none}.s{display:revert-layer}",
    ".s{display:none}.s::before{display:block}",
    ".s{color:white}",
    "body{background:#000}.s{color:#010101}.v{color:#fff}",
    ":root{--x:none}.s{display:var(--x)}",
    "@keyframes k{from{opacity:1}}.s{display:none}",
    "@page{margin:1cm}.s{display:none}",
    ".s{display:none",
    "@media screen{.s{display:none",
    "}.x{}.s{display:none}",
    "[title='::'],.s{display:none}",
]


@pytest.mark.parametrize("sheet", SHEETS)
def test_a_sheet_that_hides_takes_the_text_away(sheet: str) -> None:
    read = read_page(f"<style>{sheet}</style><div><p class=v>seen</p><p class=s id=i data-k=v>secret</p></div>")
    assert read.text == "seen"
    assert "secret" not in read.safe_html
    assert "hidden_text" in read.signals


@pytest.mark.parametrize(
    "page",
    [
        "<p hidden>secret</p>",
        "<p hidden=until-found>secret</p>",
        "<p hidden style='display:block'>secret</p>",
        "<div style='display:none'><p style='display:block!important;visibility:visible'>secret</p></div>",
        "<div style='opacity:0'><p style='opacity:1'>secret</p></div>",
        "<div style='opacity:.3'><p style='opacity:.3'>secret</p></div>",
        "<div style='font-size:1px'><p style='font-size:2em'>secret</p></div>",
        "<div style='font-size:1px'><b>secret</b></div>",
        "<div style='visibility:hidden'><b><i>secret</i></b></div>",
        "<div style='transform:scale(.3)'><p style='transform:scale(.3)'>secret</p></div>",
        "<font color=white>secret</font>",
        "<font color=#ffffff>secret</font>",
        "<font color=FFFFFF>secret</font>",
        "<font color=' White '>secret</font>",
        "<body text=white><p>secret</p>",
        "<body bgcolor=black><p>secret</p>",
        "<body style='color:#fff'>secret",
        "<p>x</p><body style='background:#000'><p>secret",
        "<table bgcolor=#222222><tr><td style='color:#232323'>secret</table>",
        "<table><tr bgcolor=black><td>secret</table>",
        "<div style='background:#000'><div style='background:rgba(0,0,0,.5)'>secret</div></div>",
        "<div style='background:url(x)'><div style='background:#fff;color:#fff'>secret</div></div>",
        "<div style='max-height:0'><p style='max-height:inherit;overflow:hidden'>secret</p></div>",
        "<p class=s>secret<style>.s{display:none}</style></p>",
        "<style media=screen>.s{display:none}</style><p class=s>secret",
        "<style type=TEXT/CSS>.s{display:none}</style><p class=s>secret",
        "<svg><style>.s{display:none}</style></svg><p class=s>secret",
        "<a href=https://example.org style='display:none'>secret</a>",
        "<a href=https://example.org style='color:#fff'>secret</a>",
        "<ul style='display:none'><li>secret</ul>",
        "<h1 style='font-size:0'>secret</h1>",
        "<blockquote style='display:none'>secret</blockquote>",
        "<p style='display&#58;none'>secret",
        "<p style=display&colon;none>secret",
        "<P STYLE='DISPLAY:NONE'>secret",
        "<p style='display:none' style='display:block'>secret",
        "<p/style='display:none'/>secret",
        "<style>[title='::x']{display:none}</style><p title=::x>secret",
        "<style>.a\\:hover{display:none}</style><p class=a:hover>secret",
    ],
)
def test_markup_that_hides_takes_the_text_away(page: str) -> None:
    read = read_page(f"{page}")
    assert "secret" not in read.text + read.safe_html
    assert "secret" not in str(read.links)
    assert "hidden_text" in read.signals


@pytest.mark.parametrize(
    "page",
    [f"<{tag}>secret</{tag}>" for tag in NEVER.split()]
    + [
        "<!-- secret -->",
        "<!--[if mso]><p>secret</p><![endif]-->",
        "<![CDATA[secret]]>",
        "<!DOCTYPE secret>",
        "<?php secret ?>",
        "<head><title>secret</title></head>",
        "<select><option>secret</select>",
        "<svg><text>secret</text></svg>",
        "<math><annotation>secret</annotation></math>",
        "<p title=secret alt=secret aria-label=secret data-x=secret placeholder=secret></p>",
        "<img src=x alt=secret>",
        "<input value=secret>",
        "<meta name=description content=secret>",
        "<style>p::before{content:'secret'}</style><p></p>",
        "<object><p>secret</p></object>",
        "<plaintext>secret",
        "<div><template shadowrootmode=open>secret</template></div>",
        "</p secret>",
        "<p secret>",
    ],
)
def test_what_is_never_text_is_not_text(page: str) -> None:
    read = read_page(f"<p>seen</p>{page}")
    assert read.text == "seen"
    assert "secret" not in read.safe_html


@pytest.mark.parametrize(
    "page",
    [
        "<div style='display:none'>&nbsp;&zwnj;&#847; &shy;</div>",
        "<div style='display:none'><img src=cid:x></div>",
        "<table><tr><td style='font-size:0'> &nbsp; </td></tr></table>",
        "<style>.x{display:none}</style>",
    ],
)
def test_hidden_blanks_are_no_hidden_text(page: str) -> None:
    assert "hidden_text" not in read_page(f"<p>seen</p>{page}").signals


def test_a_copy_for_other_screens_hides_nothing_that_is_not_seen() -> None:
    copy = "<p>Spring sale, 20 % off</p><p style='display:none'>{}</p>"
    assert read_page(copy.format("SPRING sale")).signals == set()
    assert read_page(copy.format("Spring sale: pay at once")).signals == {"hidden_text"}
    assert read_page(copy.format("sale " * 5000)).signals == {"hidden_text"}


def test_a_popover_is_not_seen() -> None:
    assert read_page("<p>seen</p><p popover>not</p>").text == "seen"


def test_what_stands_in_for_ruby_is_brackets_or_hidden() -> None:
    page = "<ruby>漢<rp>({}</rp><rt>kan</rt><rp>)</rp></ruby>"
    assert read_page(page.format("")).text == "漢(kan)"
    hiding = read_page(page.format("secret"))
    assert hiding.text == "漢kan)"
    assert hiding.signals == {"hidden_text"}
