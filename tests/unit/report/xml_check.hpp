// A small, strict check that a document is well-formed XML 1.0 (elements, attributes, CDATA, references):
// what it accepts every parser accepts. It also hands out what it saw.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace xml_check {

struct Element {
    std::string name;
    std::map<std::string, std::string> attributes;  ///< references resolved
    std::string text;                               ///< character data and CDATA, in order
    std::vector<Element> children;

    [[nodiscard]] const std::string& at(const std::string& attribute) const;
    /// All elements of that name below this one, at any depth.
    [[nodiscard]] std::vector<const Element*> all(std::string_view wanted) const;
};

/// The root element, or in `problem` why the document is not well-formed.
[[nodiscard]] std::optional<Element> parse(std::string_view document, std::string& problem);

/// The root element. The test ends where the document is not well-formed.
[[nodiscard]] Element parsed(std::string_view document);

}  // namespace xml_check
