#include "advise/symptoms/symptoms.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "advise/symptoms/log_text.hpp"
#include "base/text.hpp"

namespace cudamatrix::symptoms {
namespace {

/// A fragment begins at most so far behind the one before it: further away it belongs to another message. A
/// short one stands everywhere, so that it has to be nearer.
std::size_t largest_gap(std::string_view fragment) {
    return std::min<std::size_t>(200, 10 * fragment.size());
}

/// Of a longer text nothing is near: a log has words of every row.
constexpr std::size_t kMostOfShortText = 4096;
constexpr std::size_t kMostNearest = 3;

std::vector<std::string> fragments_of(const Row& row) {
    std::vector<std::string> out;
    for (const auto fragment : row.list("matches"))
        out.push_back(text::lower(fragment));
    return out;
}

bool rest_follows(std::string_view words, std::size_t end, const std::vector<std::string>& fragments) {
    for (std::size_t i = 1; i < fragments.size(); ++i) {
        const auto near = words.substr(end, largest_gap(fragments[i]) + fragments[i].size());
        const auto at = near.find(fragments[i]);
        if (at == near.npos) return false;
        end += at + fragments[i].size();
    }
    return true;
}

/// Where the message begins the first time.
std::optional<std::size_t> position_of(std::string_view words, const std::vector<std::string>& fragments) {
    if (fragments.empty() || fragments.front().empty()) return std::nullopt;
    const auto& first = fragments.front();
    const std::boyer_moore_horspool_searcher searcher(first.begin(), first.end());
    for (auto from = words.begin(); from != words.end();) {
        const auto found = std::search(from, words.end(), searcher);
        if (found == words.end()) return std::nullopt;
        const auto at = static_cast<std::size_t>(found - words.begin());
        if (rest_follows(words, at + first.size(), fragments)) return at;
        from = found + 1;
    }
    return std::nullopt;
}

std::size_t length_of(const Row& row) {
    std::size_t out = 0;
    for (const auto fragment : row.list("matches"))
        out += fragment.size();
    return out;
}

using Words = std::set<std::string, std::less<>>;

/// Words of three letters and more: shorter ones stand in every sentence.
void add_words(std::string_view text, Words& into) {
    for (std::size_t i = 0; i < text.size();) {
        auto end = i;
        while (end < text.size() && (text::is_word(text[end]) || text[end] == '_'))
            ++end;
        if (end - i >= 3) into.emplace(text.substr(i, end - i));
        i = end + 1;
    }
}

std::vector<Row> nearest(const Facts& facts, std::string_view words) {
    Words said;
    add_words(words, said);
    if (said.size() < 2 || words.size() > kMostOfShortText) return {};
    std::vector<std::pair<std::size_t, Row>> near;  // with the number of words that only one of the two has
    for (const auto& row : facts.rows("symptoms")) {
        Words wanted;
        for (const auto& fragment : fragments_of(row))
            add_words(fragment, wanted);
        const auto shared = static_cast<std::size_t>(
            std::ranges::count_if(wanted, [&](const std::string& word) { return said.contains(word); }));
        // Most words of the row stand in the text, the text is part of the row's message, or they are alike.
        const auto all = wanted.size() + said.size();
        if (shared >= 2 &&
            (3 * shared >= 2 * wanted.size() || shared == said.size() || 10 * shared >= 3 * all))
            near.emplace_back(all - 2 * shared, row);
    }
    std::ranges::stable_sort(near, {}, [](const auto& each) { return each.first; });
    std::vector<Row> out;
    for (std::size_t i = 0; i < std::min(near.size(), kMostNearest); ++i)
        out.push_back(near[i].second);
    return out;
}

}  // namespace

Found find(const Facts& facts, std::string_view text) {
    const LogText log(text);
    Found out;
    for (const auto& row : facts.rows("symptoms")) {
        if (const auto at = position_of(log.words(), fragments_of(row))) {
            auto line = log.line_at(*at);
            out.matches.push_back({row, line.number, std::move(line.text)});
        }
    }
    std::ranges::stable_sort(out.matches, [](const Match& a, const Match& b) {
        const auto a_length = length_of(a.row), b_length = length_of(b.row);
        return std::tie(b_length, a.line) < std::tie(a_length, b.line);
    });
    if (out.matches.empty()) out.nearest = nearest(facts, log.words());
    return out;
}

}  // namespace cudamatrix::symptoms
