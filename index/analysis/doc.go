// Package analysis turns text into search terms, the same way when a document
// is indexed and when a question is asked. It is pure: no clock, no files, no
// state that changes an answer (an Analyzer's memory only saves work).
//
// These become terms:
//
//	running text       words, lower case, stemmed for the language of the text,
//	                   accents folded: "Canciones" -> cancion
//	code               identifiers whole and in parts, one spelling for all:
//	                   HTTPServer, http_server, http-server
//	                   -> http server httpserver; C++ -> c cplusplus
//	Chinese, Japanese, every character and every pair of neighbours:
//	Korean             数据库 -> 数 数据 据 据库 库
//	Thai, Lao, Khmer,  pairs and triples of characters
//	Burmese
//	emoji              each one a term
//
// A document is stemmed for one language, found by counting function words and
// characteristic letters. A question is too short for that, so its words are
// stemmed for every language that the index holds and all variants are
// searched for. Words with accents leave two terms where the stem depends on
// the accent, so that a question typed without accents finds them.
//
// Words of languages that build words out of words (German, Turkish, Russian, Arabic and others)
// leave their first letters, or the consonants of their stem, as a term next to the stem.
//
// Function words are indexed, and dropped from questions only, in Chinese and Japanese
// by pairs of characters; a question of nothing else keeps them all.
//
// Terms are lower case letters and digits and nothing else: no term can be
// read as an operator of a query language.
//
// Stems and function words come from bleve's language packages, but for Arabic and
// the function words of Persian, Polish and Vietnamese, which are our own. Of some languages only the
// function words are known.
//
// It also finds the times that a text names by their distance from the day on which it was
// written ("yesterday", "letzte Woche", "il y a trois jours", 上周五), or without their year ("on
// 7 May"), computes which days they are, and makes index words of them ([DateWords]). Words that
// are no time, or could mean one of several, are left out: "may", "the next day", "on Friday",
// "a few weeks ago". The languages are rows of tables: date_words.go has those that write words
// apart, date_han.go Chinese, Japanese and Korean.
package analysis

// Version names the rules of this package. It changes whenever a text may
// yield other terms than before; an index built under another version must be
// analysed again.
//
//	1: first version
//	2: Arabic is stemmed; letters help to recognise a language
//	3: words of languages that build words leave their root beside the stem
//	4: an index has the days that a text names by their distance beside them
//	5: Vietnamese keeps its accents; Greek loses them, and long words leave their root
const Version = 5
