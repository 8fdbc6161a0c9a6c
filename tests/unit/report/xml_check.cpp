#include "unit/report/xml_check.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "base/text.hpp"

namespace xml_check {
namespace {

using cudamatrix::text::invalid_utf8;

bool name_character(char c, bool first) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    return letter || (!first && ((c >= '0' && c <= '9') || c == '-' || c == '.'));
}

class Parser {
  public:
    explicit Parser(std::string_view text) : rest_(text) {}

    Element document() {
        if (invalid_utf8(rest_)) throw std::runtime_error("not UTF-8");
        for (const unsigned char c : rest_) {
            if (c < 0x20 && c != '\n' && c != '\t' && c != '\r')
                throw std::runtime_error("control character");
        }
        for (const std::string_view bad : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"}) {
            if (rest_.find(bad) != std::string_view::npos) throw std::runtime_error("U+FFFE or U+FFFF");
        }
        expect("<?xml version=\"1.0\" encoding=\"UTF-8\"?>");
        blanks();
        auto root = element();
        blanks();
        if (!rest_.empty()) throw std::runtime_error("text behind the root element");
        return root;
    }

  private:
    bool take(std::string_view token) {
        if (!rest_.starts_with(token)) return false;
        rest_.remove_prefix(token.size());
        return true;
    }
    void expect(std::string_view token) {
        if (!take(token))
            throw std::runtime_error("expected " + std::string(token) + " at " +
                                     std::string(rest_.substr(0, 40)));
    }
    bool blanks() {
        bool any = false;
        while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\n' || rest_[0] == '\t')) {
            rest_.remove_prefix(1);
            any = true;
        }
        return any;
    }
    std::string name() {
        std::size_t size = 0;
        while (size < rest_.size() && name_character(rest_[size], size == 0))
            ++size;
        if (size == 0) throw std::runtime_error("expected a name at " + std::string(rest_.substr(0, 40)));
        std::string out(rest_.substr(0, size));
        rest_.remove_prefix(size);
        return out;
    }
    char reference() {
        for (const auto& [token, c] :
             {std::pair{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&#10;", '\n'}}) {
            if (take(token)) return c;
        }
        throw std::runtime_error("bad reference at " + std::string(rest_.substr(0, 40)));
    }
    std::string value() {
        expect("\"");
        std::string out;
        while (!take("\"")) {
            if (rest_.empty() || rest_[0] == '<' || rest_[0] == '\n')
                throw std::runtime_error("bad attribute value");
            if (rest_[0] == '&') {
                out += reference();
            } else {
                out += rest_[0];
                rest_.remove_prefix(1);
            }
        }
        return out;
    }
    Element element() {
        expect("<");
        Element out;
        out.name = name();
        while (blanks() && rest_[0] != '/' && rest_[0] != '>') {
            const auto key = name();
            expect("=");
            if (!out.attributes.emplace(key, value()).second)
                throw std::runtime_error("attribute twice: " + key);
        }
        if (take("/>")) return out;
        expect(">");
        content(out);
        expect(out.name);
        expect(">");
        return out;
    }
    // Up to and with "</".
    void content(Element& out) {
        while (!take("</")) {
            if (rest_.empty()) throw std::runtime_error("end inside " + out.name);
            if (take("<![CDATA[")) {
                const auto end = rest_.find("]]>");
                if (end == std::string_view::npos) throw std::runtime_error("CDATA without end");
                out.text += rest_.substr(0, end);
                rest_.remove_prefix(end + 3);
            } else if (rest_[0] == '<') {
                out.children.push_back(element());
            } else if (rest_[0] == '&') {
                out.text += reference();
            } else if (rest_.starts_with("]]>")) {
                throw std::runtime_error("]]> in text");
            } else {
                out.text += rest_[0];
                rest_.remove_prefix(1);
            }
        }
    }

    std::string_view rest_;
};

}  // namespace

const std::string& Element::at(const std::string& attribute) const {
    static const std::string none = "(no such attribute)";
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? none : found->second;
}

std::vector<const Element*> Element::all(std::string_view wanted) const {
    std::vector<const Element*> out;
    for (const auto& child : children) {
        if (child.name == wanted) out.push_back(&child);
        for (const auto* deeper : child.all(wanted))
            out.push_back(deeper);
    }
    return out;
}

std::optional<Element> parse(std::string_view document, std::string& problem) {
    try {
        return Parser(document).document();
    } catch (const std::runtime_error& error) {
        problem = error.what();
        return std::nullopt;
    }
}

Element parsed(std::string_view document) {
    std::string problem;
    auto root = parse(document, problem);
    REQUIRE_MESSAGE(root.has_value(), problem);
    return std::move(root).value();
}

}  // namespace xml_check
