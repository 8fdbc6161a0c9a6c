#include "unit/render/injection/matrix_places.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "matrix/field.hpp"

using namespace cudamatrix;
using yaml::Node;

namespace {

bool takes_fields(const Json& schema) {
    const auto& properties = schema.at("properties");
    return std::all_of(all_fields().begin(), all_fields().end(),
                       [&](const FieldInfo& field) { return properties.contains(field.name); });
}

// Walks a file and its schema side by side.
class Walk {
  public:
    explicit Walk(const Json& schema) : schema_(schema) {}

    void visit(const Node& node, const std::vector<Json>& forms, const std::string& name) {
        add(Place::Kind::value, name, node.kind == Node::Kind::scalar);
        for (std::size_t i = 0; i < node.items.size(); ++i) {
            path_.push_back(i);
            visit(node.items[i], below(forms, "items"), name + "[]");
            path_.pop_back();
        }
        if (node.kind == Node::Kind::map) visit_map(node, forms, name);
    }

    Places finish() { return std::move(out_); }

  private:
    void visit_map(const Node& node, const std::vector<Json>& forms, const std::string& name) {
        const auto dot = name.empty() ? std::string() : name + ".";
        for (const auto& form : resolved(forms)) {
            if (!form.contains("properties")) continue;
            if (takes_fields(form)) {
                add_fields(name);
                continue;
            }
            for (const auto& [key, ignored] : form.at("properties").items())
                out_.wanted.insert(dot + key);
        }
        for (std::size_t i = 0; i < node.members.size(); ++i) {
            const auto& [key, value] = node.members[i];
            path_.push_back(i);
            auto inside = below(forms, "additionalProperties");
            bool open = !inside.empty();
            for (const auto& form : resolved(forms)) {
                if (form.contains("properties") && form.at("properties").contains(key.text)) {
                    inside.push_back(form.at("properties").at(key.text));
                    open = false;
                }
            }
            const auto here = dot + (open ? "*" : key.text);
            out_.present.insert(here);
            add(Place::Kind::key, here, open);
            visit(value, inside, here);
            path_.pop_back();
        }
    }

    void add(Place::Kind kind, const std::string& name, bool open) {
        out_.all.push_back({kind, path_, name, {}, {}, open});
    }

    void add_fields(const std::string& name) {
        out_.field_maps.insert(name);
        for (const auto& field : all_fields()) {
            const bool is_map = field.syntax == Syntax::string_map;
            for (const char* form : {is_map ? "name" : "value", is_map ? "text" : "list"})
                out_.all.push_back({Place::Kind::field, path_, name, std::string(field.name), form, false});
        }
    }

    // Without references and alternatives.
    [[nodiscard]] std::vector<Json> resolved(const std::vector<Json>& forms) const {
        std::vector<Json> out;
        for (const auto& form : forms) {
            if (!form.is_object()) continue;
            std::vector<Json> inner;
            if (form.contains("$ref")) {
                const auto reference = form.at("$ref").get<std::string>();
                inner.push_back(schema_.at("definitions").at(reference.substr(reference.rfind('/') + 1)));
            } else if (form.contains("anyOf")) {
                inner = form.at("anyOf").get<std::vector<Json>>();
            } else if (form.contains("allOf")) {  // a reference that has a description beside it
                inner = form.at("allOf").get<std::vector<Json>>();
            } else {
                out.push_back(form);
                continue;
            }
            inner = resolved(inner);
            out.insert(out.end(), inner.begin(), inner.end());
        }
        return out;
    }

    [[nodiscard]] std::vector<Json> below(const std::vector<Json>& forms, const char* member) const {
        std::vector<Json> out;
        for (const auto& form : resolved(forms)) {
            if (form.contains(member) && form.at(member).is_object()) out.push_back(form.at(member));
        }
        return out;
    }

    const Json& schema_;
    Places out_;
    Path path_;
};

// Line ends that YAML would fold are written as escapes, so that the reader sees the text as it is.
std::string in_yaml(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            out += std::string("\\") + c;
        else if (byte < 0x20 || byte == 0x7f)
            out += fmt::format("\\x{:02x}", byte);
        else
            out += c;
    }
    for (const auto& [raw, escape] :
         {std::pair{"\xc2\x85", "\\N"}, {"\xe2\x80\xa8", "\\L"}, {"\xe2\x80\xa9", "\\P"}})
        out = text::replace_all(out, raw, escape);
    return out + '"';
}

std::string field_text(const Place& place, const std::string& value) {
    const auto field = in_yaml(place.field) + ": ";
    if (place.form == "name") return field + "{" + in_yaml(value) + ": \"1.2.3\"}";
    if (place.form == "text") return field + "{NAME: " + in_yaml(value) + "}";
    return field + (place.form == "list" ? "[" + in_yaml(value) + "]" : in_yaml(value));
}

struct Writer {
    const Place& place;
    const std::string& value;
    Path path = {};
    std::string out = {};

    void write(const Node& node) {
        const bool here = path == place.path;
        if (here && place.kind == Place::Kind::value) {
            out += in_yaml(value);
            return;
        }
        switch (node.kind) {
            case Node::Kind::null:
                out += "~";
                return;
            case Node::Kind::scalar:
                out += node.quoted ? in_yaml(node.text) : node.text;
                return;
            case Node::Kind::sequence:
                out += "[";
                for (std::size_t i = 0; i < node.items.size(); ++i) {
                    out += i == 0 ? "" : ", ";
                    path.push_back(i);
                    write(node.items[i]);
                    path.pop_back();
                }
                out += "]";
                return;
            case Node::Kind::map:
                return write_map(node, here && place.kind == Place::Kind::field);
        }
    }

    void write_map(const Node& node, bool takes) {
        out += "{";
        if (takes) out += field_text(place, value);
        bool first = !takes;
        for (std::size_t i = 0; i < node.members.size(); ++i) {
            const auto& [key, inside] = node.members[i];
            if (takes && key.text == place.field) continue;
            out += first ? "" : ",\n";
            first = false;
            path.push_back(i);
            const bool here = place.kind == Place::Kind::key && path == place.path;
            out += in_yaml(here ? value : key.text) + ": ";
            write(inside);
            path.pop_back();
        }
        out += "}";
    }
};

}  // namespace

Places places_in(const Node& file, const Json& schema) {
    Walk walk(schema);
    walk.visit(file, {schema}, "");
    return walk.finish();
}

std::string with_value(const Node& file, const Place& place, const std::string& value) {
    Writer writer{place, value};
    writer.write(file);
    return writer.out + "\n";
}
