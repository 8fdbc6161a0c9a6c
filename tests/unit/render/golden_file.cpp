#include "unit/render/golden_file.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "base/json.hpp"
#include "base/text.hpp"

namespace cudamatrix::golden_file {
namespace {

using Replacement = std::pair<std::string, std::string>;

constexpr std::string_view kImages = "<images>";
constexpr std::string_view kComma = ",";

// The files in which every image has a part.
bool is_shared(const std::string& name) {
    return name == "index.json" || (name.starts_with("compose.") && name.ends_with(".yaml"));
}

Lines lines_of(std::string_view text) {
    REQUIRE_MESSAGE(text.ends_with('\n'), "a text without a newline at its end: " << text);
    return text::split(text.substr(0, text.size() - 1), '\n');
}

std::string text_of(const Lines& lines) {
    return text::join(lines, "\n") + "\n";
}

// ---- Differences.

// common[i][j]: lines that from[i..] and to[j..] have in common.
std::vector<std::vector<int>> common_lines(const Lines& from, const Lines& to) {
    std::vector<std::vector<int>> common(from.size() + 1, std::vector<int>(to.size() + 1, 0));
    for (auto i = from.size(); i-- > 0;) {
        for (auto j = to.size(); j-- > 0;)
            common[i][j] =
                from[i] == to[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
    }
    return common;
}

Lines difference(const Lines& from, const Lines& to) {
    const auto common = common_lines(from, to);
    Lines out;
    std::size_t at = 0;  // where patched() is in `from`
    // Leads it to from[line], over lines that look the same.
    const std::function<void(std::size_t)> lead_to = [&](std::size_t line) {
        const auto next = std::find(from.begin() + static_cast<std::ptrdiff_t>(at), from.end(), from[line]);
        if (next == from.begin() + static_cast<std::ptrdiff_t>(line)) return;
        lead_to(line - 1);
        out.push_back("@" + from[line - 1]);
        at = line;
    };
    std::size_t i = 0, j = 0;
    while (i < from.size() || j < to.size()) {
        if (i < from.size() && j < to.size() && from[i] == to[j]) {
            ++i, ++j;
        } else if (i < from.size() && (j == to.size() || common[i + 1][j] >= common[i][j + 1])) {
            lead_to(i);
            out.push_back("-" + from[i]);
            at = ++i;
        } else {
            if (at != i) {
                lead_to(i - 1);
                out.push_back("@" + from[i - 1]);
                at = i;
            }
            out.push_back("+" + to[j++]);
        }
    }
    return out;
}

Lines patched(const Lines& from, const Lines& difference) {
    Lines out;
    auto at = from.begin();
    for (const auto& line : difference) {
        REQUIRE_MESSAGE((!line.empty() && std::string_view("+-@").find(line[0]) != std::string_view::npos),
                        line);
        const auto text = line.substr(1);
        if (line[0] == '+') {
            out.push_back(text);
            continue;
        }
        const auto next = std::find(at, from.end(), text);
        REQUIRE_MESSAGE(next != from.end(), "not in the base: " << line);
        out.insert(out.end(), at, line[0] == '@' ? next + 1 : next);
        at = next + 1;
    }
    out.insert(out.end(), at, from.end());
    return out;
}

Lines replaced(const Lines& lines, const Replacement& pair) {
    return lines_of(text::replace_all(text_of(lines), pair.first, pair.second));
}

// The words of a line, with "-" inside them or as their end.
Lines words(const std::string& line, bool dashed) {
    Lines out(1);
    for (const char c : line) {
        const bool inside = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '+' ||
                            c == '_' || (dashed && c == '-');
        if (inside)
            out.back() += c;
        else if (!out.back().empty())
            out.emplace_back();
    }
    return out;
}

std::set<Replacement> possible_replacements(const Lines& difference) {
    std::set<Replacement> out;
    for (std::size_t i = 0; i < difference.size();) {
        Lines removed, added;
        for (; i < difference.size() && difference[i][0] == '@'; ++i) {
        }
        for (; i < difference.size() && difference[i][0] == '-'; ++i)
            removed.push_back(difference[i].substr(1));
        for (; i < difference.size() && difference[i][0] == '+'; ++i)
            added.push_back(difference[i].substr(1));
        for (std::size_t k = 0; k < std::min(removed.size(), added.size()); ++k) {
            for (const bool dashed : {false, true}) {
                const auto old_words = words(removed[k], dashed), new_words = words(added[k], dashed);
                if (old_words.size() != new_words.size()) continue;
                for (std::size_t w = 0; w < old_words.size(); ++w) {
                    if (old_words[w] != new_words[w] && old_words[w].size() > 2 && !new_words[w].empty())
                        out.emplace(old_words[w], new_words[w]);
                }
            }
        }
    }
    return out;
}

// Replacements and what differs after them, as the file tells them.
Lines told(Lines base, const Lines& text) {
    Lines out;
    auto rest = difference(base, text);
    for (;;) {
        Lines best_base, best_rest = rest;
        Replacement best;
        for (const auto& pair : possible_replacements(rest)) {
            auto with = replaced(base, pair);
            auto differs = difference(with, text);
            if (differs.size() >= best_rest.size()) continue;
            best = pair, best_base = std::move(with), best_rest = std::move(differs);
        }
        if (best_rest.size() + 1 >= rest.size()) break;
        out.push_back(fmt::format("~ {} => {}", best.first, best.second));
        base = std::move(best_base), rest = std::move(best_rest);
    }
    out.insert(out.end(), rest.begin(), rest.end());
    return out;
}

// ---- Files as parts of images, and back.

// What an image says of a shared file: from a line that begins it to the line before one less indented.
struct Part {
    std::size_t begin = 0, end = 0;
};

std::map<std::string, Part> parts_of(const std::string& name, const Lines& lines, const Lines& ids) {
    std::map<std::string, Part> out;
    const bool index = name == "index.json";
    for (std::size_t i = 0; i < lines.size(); ++i) {
        const auto id = std::find_if(ids.begin(), ids.end(), [&](const std::string& candidate) {
            return index ? lines[i] == "    {" && lines[i + 1] == "      \"id\": \"" + candidate + "\","
                         : lines[i] == "  \"" + candidate + "\":";
        });
        if (id == ids.end()) continue;
        auto end = i + 1;
        while (end < lines.size() && lines[end].starts_with(index ? "      " : "    "))
            ++end;
        out[*id] = {i, index ? end + 1 : end};
    }
    return out;
}

// Takes the parts of the images out of `lines`, where they are one run in the images' order.
void take_out(const std::string& name, Lines& lines, std::vector<Image>& images) {
    Lines ids;
    for (const auto& image : images)
        ids.push_back(image.id);
    const auto parts = parts_of(name, lines, ids);
    if (parts.empty()) return;
    const bool index = name == "index.json";
    std::size_t begin = lines.size(), at = 0;
    for (auto& image : images) {
        const auto found = parts.find(image.id);
        if (found == parts.end()) continue;
        const auto [first, last] = found->second;
        begin = std::min(begin, first);
        REQUIRE_MESSAGE((at == 0 || at == first), name << ": not in the order of the images: " << image.id);
        at = last;
        image.lines.push_back("---- " + name);
        image.lines.insert(image.lines.end(), lines.begin() + static_cast<std::ptrdiff_t>(first),
                           lines.begin() + static_cast<std::ptrdiff_t>(last));
        if (index) image.lines.back() = "    }";
    }
    lines.erase(lines.begin() + static_cast<std::ptrdiff_t>(begin),
                lines.begin() + static_cast<std::ptrdiff_t>(at));
    lines.insert(lines.begin() + static_cast<std::ptrdiff_t>(begin),
                 std::string(kImages) + std::string(index ? kComma : ""));
}

// The parts of an image by name.
std::vector<std::pair<std::string, Lines>> split_parts(const Lines& lines) {
    std::vector<std::pair<std::string, Lines>> out;
    for (const auto& line : lines) {
        if (line.starts_with("---- "))
            out.emplace_back(line.substr(5), Lines{});
        else
            out.back().second.push_back(line);
    }
    return out;
}

void put_image(Tree& tree, std::map<std::string, std::vector<Lines>>& shared, const Image& image) {
    for (const auto& [name, lines] : split_parts(image.lines)) {
        if (is_shared(name))
            shared[name].push_back(lines);
        else
            tree["images/" + image.id + "/" + name] = text_of(lines);
    }
}

Lines with_images(const Lines& lines, const std::vector<Lines>& parts) {
    Lines out;
    for (const auto& line : lines) {
        if (!line.starts_with(kImages)) {
            out.push_back(line);
            continue;
        }
        for (std::size_t i = 0; i < parts.size(); ++i) {
            out.insert(out.end(), parts[i].begin(), parts[i].end());
            if (i + 1 < parts.size()) out.back() += line.substr(kImages.size());
        }
    }
    return out;
}

std::string family(const Lines& lines) {
    const auto found = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
        return line.starts_with("      \"family\": ");
    });
    return found == lines.end() ? std::string() : *found;
}

// The text of `image` with the id of `base` replaced by its own.
Lines renamed(const Image& base, const std::string& id) {
    return replaced(base.lines, {base.id, id});
}

}  // namespace

Tree Reader::read(const std::string& name, std::string_view text) {
    auto& images = cases_[name];
    images.clear();
    Tree tree;
    std::map<std::string, std::vector<Lines>> shared;
    const auto lines = lines_of(text);
    for (std::size_t i = 0; i < lines.size();) {
        REQUIRE_MESSAGE(lines[i].starts_with("==== "), name << ": " << lines[i]);
        const auto head = text::split(lines[i].substr(5), ' ');
        Lines body;
        for (++i; i < lines.size() && !lines[i].starts_with("==== "); ++i)
            body.push_back(lines[i]);
        if (head[0] == "file") {
            tree[head[1]] = text_of(with_images(body, shared[head[1]]));
            continue;
        }
        Image image{head[1], body};
        if (head.size() == 4) {
            const auto slash = head[3].find('/');
            const auto& bases = cases_[slash == std::string::npos ? name : head[3].substr(0, slash)];
            const auto id = slash == std::string::npos ? head[3] : head[3].substr(slash + 1);
            const auto base =
                std::find_if(bases.begin(), bases.end(), [&](const Image& b) { return b.id == id; });
            REQUIRE_MESSAGE(base != bases.end(), name << ": no image " << head[3] << " before " << head[1]);
            image.lines = renamed(*base, image.id);
            image.derived = true;
            auto line = body.begin();
            for (; line != body.end() && line->starts_with("~ "); ++line) {
                const auto arrow = line->find(" => ");
                REQUIRE_MESSAGE(arrow != std::string::npos, *line);
                image.lines = replaced(image.lines, {line->substr(2, arrow - 2), line->substr(arrow + 4)});
            }
            image.lines = patched(image.lines, Lines(line, body.end()));
        }
        put_image(tree, shared, image);
        images.push_back(std::move(image));
    }
    return tree;
}

std::string Reader::write(const std::string& name, const Tree& tree, const std::string& common) {
    std::vector<Image> images;
    const auto index = parse_json(tree.at("index.json"), "index.json").value();
    for (const auto& image : index["images"])
        images.push_back({image["id"].get<std::string>(), {}});
    for (auto& image : images) {
        const auto folder = "images/" + image.id + "/";
        for (const auto& [path, text] : tree) {
            if (!path.starts_with(folder)) continue;
            image.lines.push_back("---- " + path.substr(folder.size()));
            const auto lines = lines_of(text);
            image.lines.insert(image.lines.end(), lines.begin(), lines.end());
        }
    }
    std::map<std::string, Lines> files;
    for (const auto& [path, text] : tree) {
        if (path.starts_with("images/")) continue;
        files[path] = lines_of(text);
        if (is_shared(path)) take_out(path, files[path], images);
    }
    std::string out;
    std::vector<std::pair<std::string, const Image*>> bases;
    if (name != common) {
        for (const auto& base : cases_[common])
            bases.emplace_back(common + "/", &base);
    }
    for (auto& image : images) {
        // What a reader has to go through: a difference of a difference is harder.
        const auto effort = [](const Lines& lines, const Image& base) {
            return lines.size() + (base.derived ? 10 : 0);
        };
        std::vector<std::pair<std::size_t, std::size_t>> nearest;  // without replacements
        for (std::size_t i = 0; i < bases.size(); ++i) {
            const auto& base = *bases[i].second;
            if (family(base.lines) == family(image.lines))
                nearest.emplace_back(effort(difference(renamed(base, image.id), image.lines), base), i);
        }
        std::sort(nearest.begin(), nearest.end());
        nearest.resize(std::min<std::size_t>(nearest.size(), 4));
        Lines best;
        std::size_t least = image.lines.size() / 2, base_of = bases.size();
        for (const auto& [size, i] : nearest) {
            auto lines = told(renamed(*bases[i].second, image.id), image.lines);
            if (effort(lines, *bases[i].second) >= least) continue;
            least = effort(lines, *bases[i].second), base_of = i, best = std::move(lines);
        }
        image.derived = base_of != bases.size();
        out += "==== image " + image.id;
        if (image.derived) out += " like " + bases[base_of].first + bases[base_of].second->id;
        const auto& body = image.derived ? best : image.lines;
        out += "\n" + (body.empty() ? std::string() : text_of(body));
        bases.emplace_back("", &image);
    }
    for (const auto& [path, lines] : files)
        out += "==== file " + path + "\n" + text_of(lines);
    return out;
}

}  // namespace cudamatrix::golden_file
