/* The board file language: what is accepted, and the messages for errors. */
#include "test-probe-tree.h"

static struct board *parse(const char *text, struct err *e)
{
	return board_parse_text("b.board", text, strlen(text), e);
}

static void test_words_and_quotes(void **state)
{
	struct err e;
	struct board *b =
		parse("# a comment\r\n"
		      "board my_board   # of mine\r\n"
		      "title \"A \\\"good\\\"  board\" \\\n  and # more\n"
		      "match a,b \"c,d#e\"\nmatch f\n\n"
		      "fact mode MAXN  now\n"
		      "slow value x.y path=\"/a b\" label=\"a # = \\\\ b\" path=/c \\\n unit=% # last",
		      &e);

	(void)state;
	if (!b)
		fail_msg("%s", e.text);
	assert_string_equal(b->name, "my_board");
	assert_string_equal(b->title, "A \"good\"  board and");
	assert_int_equal(b->n_clues, 3);
	assert_int_equal(b->clues[1].kind, CLUE_MATCH);
	assert_string_equal(b->clues[1].text, "c,d#e");
	assert_string_equal(fact_get(b->facts, b->n_facts, "mode"), "MAXN now");
	assert_int_equal(b->n_statements, 1);
	const struct statement *s = &b->statements[0];
	assert_int_equal(s->line, 9);
	assert_int_equal(s->tier, TIER_SLOW);
	assert_int_equal(s->n_settings, 4);
	assert_string_equal(s->settings[0].value, "/a b");
	assert_string_equal(s->settings[1].value, "a # = \\ b");
	assert_string_equal(s->settings[2].value, "/c");
	assert_string_equal(s->settings[3].value, "%");
	board_free(b);
}

static void test_clues(void **state)
{
	struct err e;
	struct board *b =
		parse("board b\ntitle B\nfast cpu\nmodel My  \"Board 3\"\nalias A B_2\n"
		      "sense hwmon=ina3221/VDD_IN zone=tj-thermal devfreq=gpu/cur_freq\nsense path=/x\n",
		      &e);

	(void)state;
	if (!b)
		fail_msg("%s", e.text);
	assert_int_equal(b->n_clues, 5);
	assert_int_equal(b->clues[0].kind, CLUE_MODEL);
	assert_string_equal(b->clues[0].text, "My Board 3");
	assert_int_equal(b->clues[2].kind, CLUE_ALIAS);
	assert_string_equal(b->clues[2].text, "B_2");
	assert_int_equal(b->clues[3].n_places, 3);
	assert_int_equal(b->clues[3].places[1].kind, PLACE_ZONE);
	assert_string_equal(b->clues[4].places[0].path, "/x");
	board_free(b);
	static const char *const bad[] = {"model",
					  "alias",
					  "sense",
					  "sense nothing",
					  "sense hwmon=ina3221",
					  "sense zone=",
					  "sense x=y",
					  "sense path=relative"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[256];
		snprintf(text, sizeof text, "board b\ntitle B\nfast cpu\n%s\n", bad[i]);
		e.text[0] = '\0';
		assert_null(parse(text, &e));
		assert_int_equal(strncmp(e.text, "b.board:4: ", 11), 0);
	}
}

static void test_expressions(void **state)
{
	struct err e;
	struct board *b = parse("\xef\xbb\xbf"
				"board b\ntitle B\nfast wave a.x note=n = 1 + \\\n\t2   # three\n"
				"fast wave a.y =3\n",
				&e);

	(void)state;
	assert_non_null(b);
	assert_non_null(strstr(b->statements[0].expression, "2"));
	assert_null(strchr(b->statements[0].expression, '#'));
	assert_string_equal(b->statements[1].expression, "3");
	assert_int_equal(b->statements[1].line, 5);
	board_free(b);
}

static void test_errors(void **state)
{
	static const struct {
		const char *text, *line, *word;
	} wrong[] = {
		{"board b\ntitle B\nfast cpu\nbored x\n", "b.board:4:", "bored"},
		{"board b\ntitle B\n\n\nfast\n", "b.board:5:", "probe"},
		{"board b\ntitle B\ncontrol\n", "b.board:3:", "what can be set"},
		{"board b\ntitle B\ncontrol fann path=/x\n", "b.board:3:", "fann"},
		{"board b\ntitle B\ncontrol fan\n", "b.board:3:", "places"},
		{"board b\ntitle B\ncontrol fan left path=/x\n", "b.board:3:", "takes no name"},
		{"board b\ntitle B\ncontrol fan path=x\n", "b.board:3:", "path=x"},
		{"board b\ntitle B\ncontrol clocks dla path=/x\n", "b.board:3:", "gpu cpu emc"},
		{"board b\ntitle B\ncontrol clocks gpu\n", "b.board:3:", "places"},
		{"board b\ntitle B\ncontrol governor path=/x\n", "b.board:3:", "gpu cpu"},
		{"board b\ntitle B\ncontrol swap path=/x\n", "b.board:3:", "places"},
		{"board b\ntitle B\ncontrol swap\ncontrol swap\n", "b.board:4:", "twice"},
		{"board b\ntitle B\nfast gpux\n", "b.board:3:", "gpux"},
		{"board b\ntitle B\nfaster cpu\n", "b.board:3:", "faster"},
		{"board b\ntitle B\nfast cpu 4\n", "b.board:3:", "4"},
		{"board b\ntitle B\nfast cpu label=x\n", "b.board:3:", "label"},
		{"board b\ntitle B\nslow temp x\n", "b.board:3:", "zone=TYPE"},
		{"board b\ntitle B\nslow temp zone=x\n", "b.board:3:", "name"},
		{"board b\ntitle B\nslow temp x y zone=x\n", "b.board:3:", "y"},
		{"board b\ntitle B\nslow temp x zone=y z\n", "b.board:3:", "z"},
		{"board b\ntitle B\nslow temp x/y zone=y\n", "b.board:3:", "x/y"},
		{"board b\ntitle B\nslow temp x zone=y \\\n hwmon=chip\n", "b.board:3:", "hwmon"},
		{"board b\ntitle B\nslow temp x path=relative\n", "b.board:3:", "relative"},
		{"board b\ntitle B\nslow temp x zone=y unit=K\n", "b.board:3:", "K"},
		{"board b\ntitle B\nslow temp x zone=y kind=heat\n", "b.board:3:", "heat"},
		{"board b\ntitle B\nslow temp x zone=y family=me\n", "b.board:3:", "me"},
		{"board b\ntitle B\nslow temp x zone=y lo=1,5\n", "b.board:3:", "1,5"},
		{"board b\ntitle B\nslow temp x zone=y index=1.5\n", "b.board:3:", "1.5"},
		{"board b\ntitle B\nslow temp x zone=y index=70000\n", "b.board:3:", "70000"},
		{"board b\ntitle B\nslow temp x zone=y period=fast\n", "b.board:3:", "fast"},
		{"board b\ntitle B\nslow temp x zone=y note=a note=b\n", "b.board:3:", "note"},
		{"board b\ntitle B\nslow temp x zone=y Label=a\n", "b.board:3:", "Label"},
		{"board b\ntitle B\nslow temp x zone=y = 1\n", "b.board:3:", "wave"},
		{"board b\ntitle B\nfast wave a.b\n", "b.board:3:", "expression"},
		{"board b\ntitle B\nfast wave a.b =  # nothing\n", "b.board:3:", "="},
		{"board b\ntitle B\n= 1\n", "b.board:3:", "="},
		{"board b\ntitle \"B\nfast cpu\n", "b.board:2:", "quote"},
		{"board b c\n", "b.board:1:", "board"},
		{"board ../b\n", "b.board:1:", "board"},
		{"board b\nboard c\n", "b.board:2:", "\"b\""},
		{"board b\ntitle\n", "b.board:2:", "title"},
		{"board b\ntitle B\ntitle C\n", "b.board:3:", "title"},
		{"board b\nmatch\n", "b.board:2:", "match"},
		{"board b\nsoc x\nfact soc y\n", "b.board:3:", "soc"},
		{"board b\nfact mode\n", "b.board:2:", "mode"},
		{"board b\nfact\n", "b.board:2:", "fact"},
		{"board b\ndemo yes\n", "b.board:2:", "demo"},
		{"board b\ntitle B\x01\n", "b.board:2:", "control"},
		{"board b\ntitle B\n", "b.board:", "signal"},
		{"title B\nfast cpu\n", "b.board:", "board NAME"},
		{"", "b.board:", "board NAME"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct err e = {.code = ERR_NONE};
		struct board *b = parse(wrong[i].text, &e);
		if (b)
			fail_msg("accepted: %s", wrong[i].text);
		if (strncmp(e.text, wrong[i].line, strlen(wrong[i].line)) != 0 ||
		    !strstr(e.text, wrong[i].word))
			fail_msg("%s says: %s", wrong[i].text, e.text);
		assert_int_equal(e.code, ERR_FAILED);
	}
}

static void test_include(void **state)
{
	struct tree t;
	char path[256];
	struct err e;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/a.board", "board a\ntitle A\ninclude sub/common.inc\nslow swap\n");
	tree_file(&t, "/sub/common.inc", "soc t1\ninclude more.inc\nfast cpu\n");
	tree_file(&t, "/sub/more.inc", "fast ram\n");
	tree_path(&t, "/a.board", path);
	struct board *b = board_parse(path, &e);
	if (!b)
		fail_msg("%s", e.text);
	assert_int_equal(b->n_statements, 3);
	assert_string_equal(b->statements[0].probe, "ram");
	assert_string_equal(b->statements[1].probe, "cpu");
	assert_string_equal(b->statements[2].probe, "swap");
	assert_non_null(strstr(b->statements[0].file, "sub/more.inc"));
	assert_int_equal(b->statements[2].line, 4);
	board_free(b);

	tree_file(&t, "/sub/more.inc", "fast ram\nfast x\n"); /* reported at its own line */
	assert_null(board_parse(path, &e));
	assert_non_null(strstr(e.text, "sub/more.inc:2:"));
	tree_file(&t, "/sub/more.inc", "include none.inc\n"); /* names the including line and the cause */
	assert_null(board_parse(path, &e));
	assert_non_null(strstr(e.text, "sub/more.inc:1:"));
	assert_non_null(strstr(e.text, "sub/none.inc"));
	tree_end(&t);
}

static void test_include_loops(void **state)
{
	struct tree t;
	char path[256], name[32], text[64];
	struct err e;

	(void)state;
	tree_begin(&t);
	tree_file(&t, "/a.board", "board a\ntitle A\ninclude b.inc\nfast cpu\n");
	tree_file(&t, "/b.inc", "include a.board\n");
	tree_path(&t, "/a.board", path);
	assert_null(board_parse(path, &e));
	assert_non_null(strstr(e.text, "itself"));
	tree_file(&t, "/b.inc", "include ./b.inc\n"); /* another path to itself */
	assert_null(board_parse(path, &e));
	assert_non_null(strstr(e.text, "itself"));
	/* 3^8 includes without a loop */
	tree_file(&t, "/b.inc", "include 0.inc\n");
	for (int i = 0; i < 7; i++) {
		snprintf(name, sizeof name, "/%d.inc", i);
		snprintf(text, sizeof text, "include %d.inc\ninclude %d.inc\ninclude %d.inc\n", i + 1, i + 1,
			 i + 1);
		tree_file(&t, name, i < 6 ? text : "fast cpu\n");
	}
	assert_null(board_parse(path, &e));
	assert_non_null(strstr(e.text, "64"));
	tree_end(&t);
}

static void test_hostile_text(void **state)
{
	struct err e;
	const size_t big = 1000 * 1000;
	char *text = malloc(big + 64);

	(void)state;
	assert_non_null(text);
	memcpy(text, "board b\ntitle B\nfast cpu\0\nfast ram\n", 36); /* a NUL in the middle */
	assert_null(board_parse_text("b", text, 36, &e));
	assert_non_null(strstr(e.text, "b:3:"));
	assert_null(board_parse_text("b", "board b\ntitle B\nfast cpu\0", 25, &e)); /* and as the last byte */

	memset(text, 'x', big); /* a single line */
	assert_null(board_parse_text("b", text, big, &e));
	for (size_t i = 1; i < big; i += 2)
		text[i] = ' '; /* one line with many words */
	assert_null(board_parse_text("b", text, big, &e));
	assert_non_null(strstr(e.text, "64 words"));
	memset(text, '"', big);
	assert_null(board_parse_text("b", text, big, &e));
	memset(text, '\\', big);
	assert_null(board_parse_text("b", text, big, &e));
	for (size_t i = 0; i < big; i += 2)
		memcpy(text + i, "\\\n", 2); /* one statement of half a million lines */
	assert_null(board_parse_text("b", text, big, &e));
	memset(text, '\n', big);
	memcpy(text + big - 5, "oops", 4);
	assert_null(board_parse_text("b", text, big, &e));
	assert_non_null(strstr(e.text, "b:999996:"));
	size_t n = (size_t)sprintf(text, "board b\ntitle B\n");
	for (int i = 0; i < 90000; i++)
		n += (size_t)sprintf(text + n, "slow swap\n");
	assert_null(board_parse_text("b", text, n, &e)); /* too many signals */
	assert_non_null(strstr(e.text, "b:2051:"));
	for (unsigned c = 1; c < 256; c++) { /* every byte, everywhere */
		char small[] = "board b\ntitle B\nslow temp x zone=y\n";
		for (size_t i = 0; i < sizeof small - 1; i++) {
			char kept = small[i];
			small[i] = (char)c;
			board_free(board_parse_text("b", small, sizeof small - 1, &e));
			small[i] = kept;
		}
	}
	free(text);
}

static void test_text_is_made_printable(void **state)
{
	struct err e;
	struct board *b = parse("board b\ntitle caf\xc3\xa9 \xff \xc2\x9b"
				"2J\nfact mode \xc2\x9b\nfast cpu\n",
				&e);

	(void)state;
	assert_non_null(b);
	assert_null(strstr(b->title, "\xc2\x9b"));
	assert_null(strstr(b->title, "\xff"));
	assert_non_null(strstr(b->title, "caf\xc3\xa9"));
	board_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_and_quotes),
		cmocka_unit_test(test_clues),
		cmocka_unit_test(test_expressions),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_include),
		cmocka_unit_test(test_include_loops),
		cmocka_unit_test(test_hostile_text),
		cmocka_unit_test(test_text_is_made_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
