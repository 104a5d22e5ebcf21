// Words that passwords are made of, which are tried first, alone and joined. A table: small
// letters, sorted, of three characters and more.
#pragma once

#include <string_view>

namespace pennyweight::access {

// clang-format off
inline constexpr std::string_view kGuessedWords[] = {
    "access", "admin", "administrator", "alexander", "always", "amanda", "amazon", "america",
    "andreas", "andrew", "angel", "anna", "anthony", "apple", "april", "arsenal", "asdf",
    "ashley", "atlanta", "august", "austin", "australia", "automne", "autumn", "azure", "baby",
    "banana", "barcelona", "baseball", "basketball", "batman", "battery", "bayern", "bear",
    "beer", "benjamin", "berlin", "billing", "bitcoin", "black", "blue", "boston", "brazil",
    "brian", "brother", "bunny", "burger", "business", "butterfly", "california", "canada",
    "candy", "change", "changeme", "charles", "charlotte", "cheese", "chelsea", "cherry",
    "chicago", "chicken", "china", "chocolate", "christ", "christopher", "church", "cloud",
    "cluster", "coffee", "company", "computer", "cookie", "correct", "cricket", "crystal", "cuda",
    "dallas", "daniel", "david", "debian", "december", "default", "demo", "denver", "dezember",
    "diamond", "dienstag", "docker", "doctor", "doggy", "dollar", "dolphin", "dragon", "dublin",
    "eagle", "edward", "elizabeth", "email", "emily", "england", "europe", "facebook", "falcon",
    "fall", "family", "father", "februar", "february", "finance", "fire", "florida", "flower",
    "football", "forever", "france", "freedom", "freitag", "friday", "friend", "friends", "gamer",
    "garden", "george", "germany", "ginger", "god", "gold", "golden", "golf", "google", "gpu",
    "grafana", "green", "guest", "guitar", "hamburg", "hannah", "happy", "heaven", "hello",
    "herbst", "hiver", "hockey", "honey", "horse", "house", "hunter", "ice", "iloveyou", "india",
    "internet", "invierno", "invoice", "italy", "james", "januar", "january", "japan", "jennifer",
    "jessica", "jesus", "joseph", "joshua", "july", "june", "juventus", "kevin", "killer", "king",
    "kitty", "kubernetes", "laptop", "laura", "letmein", "lightning", "linux", "lion",
    "liverpool", "login", "london", "love", "lovely", "lucky", "madrid", "maerz", "march",
    "maria", "markus", "martin", "master", "matrix", "matthew", "melissa", "mexico", "michael",
    "michelle", "microsoft", "mittwoch", "monday", "money", "monkey", "montag", "moon", "mother",
    "munich", "music", "netflix", "network", "never", "nicholas", "nicole", "ninja", "node",
    "november", "nvidia", "october", "office", "oktober", "orange", "panther", "paris",
    "passphrase", "passwd", "password", "passwort", "patrick", "peace", "penguin", "pennyweight",
    "pepper", "peter", "phoenix", "piano", "pizza", "player", "please", "pokemon", "police",
    "prince", "princess", "printemps", "project", "prometheus", "puppy", "purple", "queen",
    "qwerty", "rabbit", "racing", "rainbow", "rebecca", "red", "richard", "robert", "root",
    "rugby", "samstag", "samsung", "samuel", "sarah", "saturday", "school", "season", "seattle",
    "secret", "september", "server", "shadow", "shark", "silver", "sister", "slurm", "smile",
    "soccer", "soldier", "sommer", "sonntag", "sophie", "spain", "spiderman", "spring", "staple",
    "star", "startrek", "starwars", "stefan", "stephanie", "steven", "storm", "student", "sugar",
    "summer", "sunday", "sunshine", "super", "superman", "system", "teacher", "team", "temp",
    "temporary", "tennis", "test", "testing", "texas", "thanks", "thomas", "thunder", "thursday",
    "tiger", "trustno", "tuesday", "turtle", "twitter", "ubuntu", "user", "verano", "victoria",
    "vienna", "vodka", "wednesday", "welcome", "whisky", "white", "william", "windows", "wine",
    "winter", "wizard", "wolf", "world", "yellow", "youtube", "zurich",
};
// clang-format on

}  // namespace pennyweight::access
