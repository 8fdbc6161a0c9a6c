#include "knowledge/resolve/requirement_clause.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "base/text.hpp"
#include "knowledge/resolve/host.hpp"

namespace cudamatrix::rules {
namespace {

enum class Operator { equal, not_equal, less, less_equal, greater, greater_equal };

struct Part {
    std::string property;
    Operator compare = Operator::equal;
    std::string value;
};

std::optional<Operator> operator_of(std::string_view text) {
    constexpr std::pair<std::string_view, Operator> known[] = {
        {"=", Operator::equal},       {"!=", Operator::not_equal}, {"<", Operator::less},
        {"<=", Operator::less_equal}, {">", Operator::greater},    {">=", Operator::greater_equal}};
    for (const auto& [word, compare] : known) {
        if (word == text) return compare;
    }
    return std::nullopt;
}

std::optional<Part> part_of(std::string_view text) {
    constexpr std::string_view signs = "<>=!";
    const auto at = text.find_first_of(signs);
    if (at == text.npos) return std::nullopt;
    const auto end = std::min(text.find_first_not_of(signs, at), text.size());
    const auto compare = operator_of(text.substr(at, end - at));
    if (!compare || end == text.size()) return std::nullopt;
    Part out{text::lower(text.substr(0, at)), *compare, std::string(text.substr(end))};
    if (out.property == "brand") {
        const bool is_order = *compare != Operator::equal && *compare != Operator::not_equal;
        return is_order ? std::nullopt : std::optional(out);
    }
    if (out.property != "cuda" && out.property != "driver" && out.property != "arch") return std::nullopt;
    const bool is_version =
        out.value.find_first_not_of("0123456789.") == out.value.npos && Version::parse(out.value);
    return is_version ? std::optional(out) : std::nullopt;
}

// What a host has, as far as facts tell: not less than `least`, not more than `most`.
struct Range {
    std::optional<Version> least, most;
};

std::optional<bool> at_least(const Range& has, const Version& wanted) {
    if (has.least && *has.least >= wanted) return true;
    if (has.most && *has.most < wanted) return false;
    return std::nullopt;
}

std::optional<bool> above(const Range& has, const Version& wanted) {
    if (has.least && *has.least > wanted) return true;
    if (has.most && *has.most <= wanted) return false;
    return std::nullopt;
}

std::optional<bool> equal(const Range& has, const Version& wanted) {
    if (has.least && has.most && *has.least == wanted && *has.most == wanted) return true;
    if ((has.least && *has.least > wanted) || (has.most && *has.most < wanted)) return false;
    return std::nullopt;
}

std::optional<bool> opposite(std::optional<bool> answer) {
    return answer ? std::optional(!*answer) : std::nullopt;
}

std::optional<bool> compared(const Range& has, Operator compare, const Version& wanted) {
    switch (compare) {
        case Operator::equal:
            return equal(has, wanted);
        case Operator::not_equal:
            return opposite(equal(has, wanted));
        case Operator::less:
            return opposite(at_least(has, wanted));
        case Operator::less_equal:
            return opposite(above(has, wanted));
        case Operator::greater:
            return above(has, wanted);
        case Operator::greater_equal:
            break;
    }
    return at_least(has, wanted);
}

// A bare number of the Windows driver stands for every release of the branch.
Range releases_of(const lookup::Driver& driver) {
    if (driver.exact.size() > 1) return {driver.exact, driver.exact};
    return {driver.exact, Version::parse(fmt::format("{}.{}", driver.exact.major(),
                                                     std::numeric_limits<std::uint32_t>::max()))};
}

// Each brand that a GPU of the cell's class may report; without a class, those of all of them.
std::vector<std::string> brands(const Context& context, const ImageHost& host, std::vector<FactRef>& facts) {
    std::vector<std::string> out;
    for (const auto& row : context.facts.rows("host_classes")) {
        if (!host.gpu_class.empty() && row.text("class") != host.gpu_class) continue;
        if (!row.has("brands")) continue;
        if (!host.gpu_class.empty()) facts.push_back(row.ref());
        for (const auto& brand : row.list("brands"))
            out.emplace_back(brand);
    }
    return out;
}

class Judge {
  public:
    Judge(const Context& context, const ImageHost& host) : context_(context), host_(host) {
        cite(result_.facts, context.facts, "image-policy-requirement-clause");
    }

    ClauseResult all_brands(std::string_view clause) {
        std::vector<FactRef> of_brands;
        const auto possible = brands(context_, host_, of_brands);
        std::optional<ClauseAnswer> joined;
        for (const auto& brand : possible) {
            brand_ = brand;
            const auto next = whole(clause);
            if (joined && next != *joined) {
                const bool no_gpu = host_.gpu_class.empty() && !context_.cell.has(Field::gpu);
                result_.answer = no_gpu ? ClauseAnswer::depends_on_gpu : ClauseAnswer::open;
                leave_open("brand", Field::gpu, "no fact says which brand the GPU reports");
                result_.facts.insert(result_.facts.end(), of_brands.begin(), of_brands.end());
                return result_;
            }
            joined = next;
        }
        result_.answer = joined.value_or(ClauseAnswer::open);
        if (asks_brand_) result_.facts.insert(result_.facts.end(), of_brands.begin(), of_brands.end());
        if (host_.driver.branch) result_.facts.push_back(host_.driver.branch->ref());
        return result_;
    }

  private:
    void leave_open(std::string_view part, Field field, std::string why) {
        result_.part = part;
        result_.field = field;
        result_.why = std::move(why);
    }

    // As the tool goes: from left to right, no further than it needs.
    ClauseAnswer whole(std::string_view clause) {
        auto worst = ClauseAnswer::refused;
        bool any = false;
        for (const auto& alternative : text::split(clause, ' ')) {
            if (alternative.empty()) continue;
            any = true;
            const auto answer = parts(alternative);
            if (answer == ClauseAnswer::met || answer == ClauseAnswer::malformed)
                return worst == ClauseAnswer::refused ? answer : doubtful(worst, answer);
            if (answer != ClauseAnswer::refused) worst = answer;
        }
        return any ? worst : ClauseAnswer::met;
    }

    // An alternative before it is open: whether this one counts is so, too, unless both say the same.
    static ClauseAnswer doubtful(ClauseAnswer before, ClauseAnswer answer) {
        return answer == ClauseAnswer::met ? answer : before;
    }

    ClauseAnswer parts(std::string_view alternative) {
        auto worst = ClauseAnswer::met;
        for (const auto& text : text::split(alternative, ',')) {
            if (text.empty()) continue;
            const auto answer = one(text);
            if (answer == ClauseAnswer::refused) return answer;
            if (answer == ClauseAnswer::malformed) return worst == ClauseAnswer::met ? answer : worst;
            if (answer != ClauseAnswer::met) worst = answer;
        }
        return worst;
    }

    ClauseAnswer one(std::string_view text) {
        const auto part = part_of(text);
        if (!part) {
            result_.part = std::string(text);
            return ClauseAnswer::malformed;
        }
        if (part->property == "brand") {
            asks_brand_ = true;
            return answer_of((text::lower(part->value) == brand_) == (part->compare == Operator::equal));
        }
        const auto wanted = *Version::parse(part->value);
        if (part->property == "arch") return arch(*part, wanted, text);
        const bool is_cuda = part->property == "cuda";
        const auto has =
            is_cuda ? Range{host_.native.at_least, host_.native.at_most} : releases_of(host_.driver);
        const auto answer = compared(has, part->compare, wanted);
        if (answer) return answer_of(*answer);
        const auto driver = host_driver_text(context_, host_.driver);
        leave_open(text, Field::driver,
                   is_cuda ? fmt::format("no fact says exactly which CUDA {} runs", driver)
                           : fmt::format("{} may be any release of its branch", driver));
        return ClauseAnswer::open;
    }

    ClauseAnswer arch(const Part& part, const Version& wanted, std::string_view text) {
        if (!context_.cell.has(Field::gpu) && !context_.cell.has(Field::compute))
            return ClauseAnswer::depends_on_gpu;
        const auto known = if_known(device(context_));
        const auto compute = known ? Version::parse(known->compute) : std::nullopt;
        if (!compute) {
            leave_open(text, Field::gpu, "no fact says which compute capability the GPU has");
            return ClauseAnswer::open;
        }
        if (result_.compute.empty())
            result_.facts.insert(result_.facts.end(), known->facts.begin(), known->facts.end());
        result_.compute = known->compute;
        return answer_of(*compared({compute, compute}, part.compare, wanted));
    }

    static ClauseAnswer answer_of(bool met) { return met ? ClauseAnswer::met : ClauseAnswer::refused; }

    const Context& context_;
    const ImageHost& host_;
    std::string brand_;
    bool asks_brand_ = false;
    ClauseResult result_;
};

}  // namespace

ClauseResult judge_clause(const Context& context, std::string_view clause, const ImageHost& host) {
    return Judge(context, host).all_brands(clause);
}

}  // namespace cudamatrix::rules
